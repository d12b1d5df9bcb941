/* Search in pages that are opened from a folder: browsers start no worker from a file. This class has as much of
 * Worker's interface as the theme uses, and runs the script in a hidden frame. The theme's search looks for its name. */
if (location.protocol === "file:") {
  window.IFrameWorker = class IFrameWorker extends EventTarget {
    static all = []

    constructor(url) {
      super()
      this.opened = new Promise((resolve) => (this.start = resolve))
      const number = IFrameWorker.all.push(this) - 1
      this.frame = document.createElement("iframe")
      this.frame.hidden = true
      document.body.appendChild(this.frame)
      const inside = this.frame.contentDocument
      inside.open()
      inside.write(`<!doctype html><body><script>
        var worker = parent.IFrameWorker.all[${number}]
        postMessage = function (data) { worker.receive(data) }
        importScripts = function () {
          return Array.from(arguments).reduce(function (before, url) {
            return before.then(function () {
              return new Promise(function (resolve) {
                var script = document.createElement("script")
                script.src = url
                script.onload = resolve
                document.body.appendChild(script)
              })
            })
          }, Promise.resolve())
        }
      </script><script src="${new URL(url, document.baseURI)}"></script><script>worker.start()</script>`)
      inside.close()
    }

    /* A message from the script in the frame. */
    receive(data) {
      this.dispatchEvent(new MessageEvent("message", { data }))
    }

    /* A message to it, as soon as it is there. */
    postMessage(data) {
      const to = this.frame.contentWindow
      this.opened.then(() => to.dispatchEvent(new to.MessageEvent("message", { data })))
    }

    terminate() {
      this.frame.remove()
    }
  }
  window.Worker = window.IFrameWorker
}
