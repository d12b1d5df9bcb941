"""The page of `sidestream watch` in Chromium, as a person uses it: a test for each control, and how soon a picture is
there. With SIDESTREAM_SCREENSHOTS=FOLDER pictures of the page are kept there."""

import io
import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

import pytest
from optional_packages import all_need
from watched_run import StandIn, add_frame, add_rows, put, record, timings

CHROMIUM = os.environ.get("SIDESTREAM_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = [
    pytest.mark.test_all,
    all_need("starlette", "uvicorn", "plotly", "playwright", "PIL"),
    pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed: the page in a browser is NOT TESTED"),
]
LIMIT = 60000  # milliseconds
HEAD = "rank,role,iteration,start,compute,publish,wait,end,task,seconds\n"


def picture(text, size=(320, 240)):
    from PIL import Image, ImageDraw

    image = Image.new("RGB", size, "#24405f")
    ImageDraw.Draw(image).text((20, size[1] // 2), text, fill="white")
    file = io.BytesIO()
    image.save(file, "png")
    return file.getvalue()


MESSAGES = [
    (1, "note", "client 0", "placement cores: 2 clients; 1 server: rank 2 (node-17)"),
    (2, "warning", "server 2", "'hot.vtp': in iteration 12 <b>nothing</b> has the value 900 (this is said once)"),
    (3, "error", "server 2", "iteration 14: histogram: cannot write 'results/h.csv': No space left on device"),
]


def message(said):
    second, level, process, text = said
    return f"2026-11-28T10:15:{second:02}.000Z {level} {process}: {text}\n"


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield found
        found.close()


@pytest.fixture
def root(tmp_path):
    """The directory of a run with two series of pictures, two tables and times."""
    found = tmp_path / "results"
    record(found)
    for number in range(12):
        add_frame(found, number, picture=picture(f"iteration {number}"))
    rows = [f"0,0,0.0,{phi}.0,image/0/{phi}.png\n" for phi in (0, 90)]
    for phi in (0, 90):
        put(found / "views.cdb" / "image" / "0" / f"{phi}.png", picture(f"phi {phi}"))
    put(found / "views.cdb" / "data.csv", "iteration,cycle,time,phi,FILE\n" + "".join(rows))
    add_rows(found / "statistics.csv", 0, 30)
    bins = "".join(
        f"{n},{n},{n / 10},{b},{b / 32},{(b + 1) / 32},{(b * n) % 50}\n" for n in range(3) for b in range(32)
    )
    put(found / "histogram.csv", "iteration,cycle,time,bin,lower,upper,count\n" + bins)
    put(found / "timings.csv", HEAD + timings(range(20)))
    outcomes = "".join(
        f"{n},{n},{n / 10},{'refused' if n == 7 else 'delivered'},{'no room' if n == 7 else ''}\n" for n in range(20)
    )
    put(found / "iterations.csv", "iteration,cycle,time,outcome,reason\n" + outcomes)
    put(found / "messages.txt", "".join(map(message, MESSAGES)))
    return found


@pytest.fixture
def session(root):
    with StandIn(root) as found:
        yield found


@pytest.fixture
def address(root):
    from sidestream.watching.serving import Serving

    serving = Serving(root)
    serving.start()
    time.sleep(0.5)
    yield serving.url
    serving.close()


def opened(browser, address, **how):
    """A page, in which no error may occur."""
    page = browser.new_page(viewport={"width": 1300, "height": 900}, **how)
    page.set_default_timeout(LIMIT)
    page.troubles = []
    page.on("pageerror", lambda error: page.troubles.append(str(error)))
    # A refused question is an answer, and an error only to the browser.
    page.on(
        "console",
        lambda said: said.type == "error" and "status of 422" not in said.text and page.troubles.append(said.text),
    )
    page.goto(address, wait_until="commit")
    page.wait_for_selector(".card[data-series] img[src]")
    return page


@pytest.fixture
def page(browser, address, request):
    found = opened(browser, address)
    yield found
    folder = os.environ.get("SIDESTREAM_SCREENSHOTS")
    if folder:
        found.screenshot(path=Path(folder) / f"{request.node.name}.png", full_page=True)
    assert found.troubles == []
    found.close()


def until(page, expression, *given):
    """Waits until an expression is true. The page forbids the way in which Playwright would wait."""
    deadline = time.monotonic() + LIMIT / 1000
    while not page.evaluate(expression, *given):
        assert time.monotonic() < deadline, expression
        time.sleep(0.05)


def shows(page, series, file):
    page.wait_for_selector(f'.card[data-series="{series}"] img[data-file="{file}"]')


def traces(page, selector):
    """Names and numbers of points of the curves in a chart."""
    until(page, "s => document.querySelector(s)?.data?.length > 0", selector)
    return page.evaluate("s => document.querySelector(s).data.map(t => [t.name, t.x.length])", selector)


def entry(page):
    return json.loads(page.input_value(".question textarea"))


def test_the_token_leaves_the_address(page):
    assert "token" not in page.url and page.evaluate("document.cookie") == ""
    assert page.inner_text("#state") == "stopped without closing"
    assert "2 clients, 1 server, 1 node" in page.inner_text("#ran")


def test_new_pictures_appear_and_the_slider_stays_where_it_is(page, root):
    shows(page, "frame.png", "frame-00011.png")
    add_frame(root, 12, picture=picture("iteration 12"))
    shows(page, "frame.png", "frame-00012.png")
    card = '.card[data-series="frame.png"]'
    page.eval_on_selector(f"{card} input[type=range]", "e => {e.value = 3; e.dispatchEvent(new Event('input'))}")
    shows(page, "frame.png", "frame-00003.png")
    assert "iteration 3" in page.inner_text(f"{card} figcaption")
    add_frame(root, 13, picture=picture("iteration 13"))
    until(page, "document.querySelector('.card[data-series=\"frame.png\"] input').max === '13'")
    shows(page, "frame.png", "frame-00003.png")
    page.click(f"{card} button:text('Newest')")
    shows(page, "frame.png", "frame-00013.png")


def test_the_slider_by_keyboard(page):
    page.focus('.card[data-series="frame.png"] input[type=range]')
    page.keyboard.press("ArrowLeft")
    shows(page, "frame.png", "frame-00010.png")
    page.keyboard.press("Home")
    shows(page, "frame.png", "frame-00000.png")


def test_film(page):
    card = '.card[data-series="frame.png"]'
    seen = """() => { window.seen = []; const image = document.querySelector('.card[data-series="frame.png"] img');
        new MutationObserver(() => window.seen.push([image.dataset.file, image.complete && image.naturalWidth > 0]))
          .observe(image, {attributes: true, attributeFilter: ['data-file']}); }"""
    page.evaluate(seen)
    page.click(f"{card} button:text('Film')")
    page.wait_for_selector(f"{card} button:text('Stop')")
    page.wait_for_selector(f"{card} button:text('Film')")
    files = page.evaluate("window.seen")
    assert [file for file, _ in files][:12] == [f"frame-{n:05}.png" for n in range(12)]
    page.click(f"{card} button:text('Film')")
    page.click(f"{card} button:text('Stop')")
    page.wait_for_selector(f"{card} button:text('Film')")


def test_views_of_a_database(page):
    shows(page, "views.cdb", "views.cdb/image/0/0.png")
    page.select_option('.card[data-series="views.cdb"] select', "phi 90.0")
    shows(page, "views.cdb", "views.cdb/image/0/90.png")


def test_enlarging(page):
    page.click('.card[data-series="frame.png"] .picture')
    page.wait_for_selector("dialog[open] img")
    page.keyboard.press("Escape")
    page.wait_for_selector("dialog", state="detached")
    page.click('.card[data-series="frame.png"] .picture')
    page.click("dialog .close")
    page.wait_for_selector("dialog", state="detached")


def test_table_over_time(page, root):
    card = '.card[data-table="statistics.csv"]'
    assert traces(page, f"{card} .chart") == [["mean", 30]]
    add_rows(root / "statistics.csv", 30, 35)
    until(page, f"document.querySelector('{card} .chart').data[0].x.length === 35")
    page.select_option(f"{card} select", "iteration")
    page.click(f"{card} .picked summary")
    page.check(f"{card} .columns input[value=component]")
    assert [name for name, _ in traces(page, f"{card} .chart")] == ["component", "mean"]
    page.keyboard.press("Escape")
    for name, axis in (("log x", "xaxis"), ("log y", "yaxis")):
        page.check(f"{card} label:has-text('{name}') input")
        assert page.evaluate(f"document.querySelector('{card} .chart').layout.{axis}.type") == "log"
    page.click(f"{card} summary:text('Newest rows')")
    assert page.inner_text(f"{card} tbody tr:first-child td:first-child") == "34"


def test_table_of_one_iteration(page):
    card = '.card[data-table="histogram.csv"]'
    assert traces(page, f"{card} .chart") == [["count", 32]]
    assert "the chart shows iteration 2" in page.inner_text(f"{card} .note")


def test_time_lines_and_outcomes(page):
    assert [name for name, _ in traces(page, "#per-iteration .chart")][-1] == "work of a server"
    assert {"simulation computes", "render", "idle"} <= {name for name, _ in traces(page, "#bars .chart")}
    assert traces(page, "#buffer .chart")[0][1] == 40
    assert traces(page, "#progress .chart")[0][1] > 1
    assert "19 delivered, 1 refused" in page.inner_text("#outcomes")
    assert "no room" in page.inner_text("#reasons") and page.locator("#strip span").count() == 20


def test_steering(page, session):
    form = '[data-parameter="interval"]'
    page.fill(f"{form} input", "0.25")
    page.keyboard.press("Enter")
    page.wait_for_selector(f"{form} .answer.good")
    page.wait_for_selector(f"{form} output:text('= 0.25')")
    assert session.values["interval"] == "0.25"
    assert "from 0.01" in page.inner_text(form)
    del session.values["stop"]  # now it is unknown
    page.click('[data-parameter="stop"] button')
    page.wait_for_selector('[data-parameter="stop"] .answer.bad')


@pytest.mark.parametrize(
    ("choices", "wanted"),
    [
        ({"axis": "x", "position": "0.3"}, {"slice": {"variable": "temperature", "axis": "x", "position": 0.3}}),
        (
            {"kind": "isosurface", "values": "0.2, 0.5"},
            {"isosurface": {"variable": "temperature", "values": [0.2, 0.5]}},
        ),
        ({"kind": "volume"}, {"volume": {"variable": "temperature", "opacity": [0, 0.05, 0.2, 0.6]}}),
        ({"variable": "velocity", "component": "2"}, {"slice": {"variable": "velocity", "component": 2, "axis": "z"}}),
        ({"look": "angles", "phi": "10", "theta": "20", "zoom": "2"}, {"camera": {"phi": 10, "theta": 20, "zoom": 2}}),
        ({"look": "[0,0,-1]"}, {"camera": {"view": [0, 0, -1], "up": [0, 1, 0]}}),
        ({"width": "640", "height": "480", "colours": "magma"}, {"size": [640, 480], "colours": "magma"}),
        ({"low": "-1", "high": "1"}, {"range": [-1, 1]}),
    ],
)
def test_form_of_pictures(page, session, choices, wanted):
    choose(page, choices)
    options = entry(page)["render"]
    assert {name: options[name] for name in wanted} == wanted
    page.click(".question button[type=submit]")
    page.wait_for_selector(".question .answer.good")
    assert json.loads(session.taken[-1][1]) == {"render": options}
    page.click(".question .answer button")
    page.wait_for_selector(f'.card.found[data-series="{options["file"]}"]')


def choose(page, choices):
    page.wait_for_selector(".question")
    for name, value in choices.items():
        control = page.locator(f".question [name={name}]")
        if control.evaluate("e => e.tagName") == "SELECT":
            control.select_option(value)
        else:
            control.fill(value)


@pytest.mark.parametrize(
    ("choices", "kind", "wanted"),
    [
        ({"kind": "histogram", "bins": "16"}, "histogram", {"variable": "temperature", "bins": 16}),
        ({"kind": "statistics"}, "statistics", {"variable": "temperature"}),
        ({"kind": "projection", "axis": "y"}, "projection", {"variable": "temperature", "axis": "y"}),
    ],
)
def test_form_of_tables(page, session, choices, kind, wanted):
    choose(page, choices)
    options = entry(page)[kind]
    assert {name: options[name] for name in wanted} == wanted and options["file"].startswith("asked/")
    page.click(".question button[type=submit]")
    page.wait_for_selector(".question .answer.good")


@pytest.mark.parametrize(
    ("choices", "wrong"),
    [
        ({"position": "0,3"}, "position"),
        ({"kind": "isosurface", "values": "foo"}, "values"),
        ({"often": "every", "every": "0"}, "every"),
        ({"width": "-5"}, "width"),
        ({"low": "0.5"}, "high"),
    ],
)
def test_numbers_that_are_none_are_not_sent(page, session, choices, wrong):
    choose(page, choices)
    before = len(session.taken)
    page.click(".question button[type=submit]")
    assert page.locator(f".question [name={wrong}]").evaluate("e => e.matches(':invalid')")
    time.sleep(1)
    assert len(session.taken) == before
    page.locator(f".question [name={wrong}]").fill("1")
    page.click(".question button[type=submit]")
    page.wait_for_selector(".question .answer.good")


@pytest.mark.parametrize("width", [390, 1280, 1900])
def test_charts_stay_in_their_cards(page, width):
    page.set_viewport_size({"width": width, "height": 900})
    traces(page, "#per-iteration .chart")
    fits = """() => [...document.querySelectorAll('.chart .main-svg')].every(e =>
        e.getBoundingClientRect().right <= e.closest('.card').getBoundingClientRect().right + 1)
        && document.documentElement.scrollWidth <= innerWidth"""
    until(page, fits)
    names = page.evaluate("[...document.querySelectorAll('.modebar-btn')].map(e => e.dataset.title)")
    assert names and not any("hare" in name or "loud" in name for name in names)


def test_from_now_on_and_its_end(page, session):
    choose(page, {"often": "every", "every": "5"})
    assert entry(page)["render"]["every"] == 5 and "{index:05}" in entry(page)["render"]["file"]
    page.click(".question button[type=submit]")
    page.wait_for_selector("#running li strong:text('asked-1')")
    page.click("#running button")
    page.wait_for_selector("#running li", state="detached")
    assert session.taken[-1] == ("end", "asked-1")


def test_a_question_of_ones_own(page, session):
    page.fill(".question textarea", "{rendr: {}}")
    page.click(".question button[type=submit]")
    page.wait_for_selector(".question .answer.bad:has-text('did you mean')")
    page.fill(".question textarea", "statistics: {variable: temperature}")
    session.keep_record()  # a new record leaves what was typed
    page.click(".question button[type=submit]")
    page.wait_for_selector(".question .answer.good")
    assert json.loads(session.taken[-1][1])["statistics"]["variable"] == "temperature"


def test_a_session_that_ends_takes_its_forms_with_it(page, session, root):
    page.wait_for_selector(".question")
    session.ends.set()
    session.join()
    shutil.rmtree(root / ".sidestream-requests")
    shutil.rmtree(root / ".sidestream-steering")
    page.wait_for_selector(".question", state="hidden")
    page.wait_for_selector(".parameter", state="detached")


def test_names_are_shown_as_they_are(page, root):
    name = '<img src=x onerror="document.title=1">\'&ü #?%41.png'
    put(root / name, picture("odd"))
    until(page, "n => [...document.querySelectorAll('.card h3')].some(h => h.textContent === n)", name)
    until(page, "n => [...document.querySelectorAll('.card img')].some(i => i.dataset.file === n)", name)
    assert page.title() != "1"


def test_second_run_in_the_same_directory(page, root):
    for path in root.glob("frame*"):
        path.unlink()
    page.wait_for_selector('.card[data-series="frame.png"]', state="detached")
    add_frame(root, 0, picture=picture("again"))
    shows(page, "frame.png", "frame-00000.png")


def test_narrow_and_dark(browser, address):
    page = opened(browser, address, color_scheme="dark")
    page.set_viewport_size({"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(18, 24, 31)"
    assert page.troubles == []
    page.close()


def test_every_control_has_a_name_and_is_reached_by_keyboard(page, session):
    page.wait_for_selector(".question")
    nameless = """[...document.querySelectorAll('main button, main input, main select, main textarea')]
        .filter(e => e.offsetParent && !e.textContent.trim() && !e.ariaLabel && !(e.labels && e.labels.length))
        .map(e => e.outerHTML)"""
    assert page.evaluate(nameless) == []
    assert page.evaluate("[...document.querySelectorAll('main [tabindex]')].every(e => e.tabIndex >= 0)")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"


def test_the_page_as_one_file(browser, root, tmp_path):
    file = tmp_path / "page.html"
    subprocess.run([sys.executable, "-m", "sidestream", "watch", root, "--page", file], check=True, timeout=60)
    asked = []
    page = browser.new_page()
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: asked.append(str(error)))
    page.set_default_timeout(LIMIT)
    page.goto(f"file://{file}", wait_until="commit")
    shows(page, "frame.png", "frame-00011.png")
    page.focus('.card[data-series="frame.png"] input[type=range]')
    page.keyboard.press("Home")
    shows(page, "frame.png", "frame-00000.png")
    assert traces(page, '.card[data-table="statistics.csv"] .chart') == [["mean", 30]]
    assert [url for url in asked if not url.startswith(("data:", "file:"))] == []
    page.close()


def test_in_a_notebook(browser, root, tmp_path):
    import sidestream

    with sidestream.watch(root) as shown:
        time.sleep(0.5)
        page = browser.new_page()
        page.set_content(f"<p>a notebook</p>{shown._repr_html_()}")
        frame = page.frame_locator("iframe")
        frame.locator('.card[data-series="frame.png"] img[data-file="frame-00011.png"]').wait_for(timeout=LIMIT)
        page.close()


def test_the_server_comes_back(browser, root):
    from sidestream.watching.serving import Serving

    first = Serving(root)
    first.start()
    time.sleep(0.5)
    page = opened(browser, first.url)
    first.close()
    page.wait_for_selector("#link:has-text('not connected')")
    page.close()


def test_how_soon_a_picture_is_there(page, root):
    """A new picture is on the page at most 0.3 s after its commit, in the median of 20."""
    traces(page, "#bars .chart")  # the page is complete
    times = []
    for number in range(12, 32):
        content = picture(f"iteration {number}", (1024, 768))
        time.sleep(0.37)
        began = time.time()
        add_frame(root, number, picture=content)
        shows(page, "frame.png", f"frame-{number:05}.png")
        shown = page.eval_on_selector('.card[data-series="frame.png"] img', "e => Number(e.dataset.shownAt)")
        times.append(shown / 1000 - began)
    print(f"seconds until a picture is there: median {statistics.median(times):.3f}, longest {max(times):.3f}")
    assert statistics.median(times) <= 0.3


ROWS = "[...document.querySelectorAll('#lines tbody tr')].map((row) => row.cells[3].textContent)"


def test_messages_by_level_and_words_and_as_they_come(page, root):
    until(page, f"() => {ROWS}.length === 3")
    newest_first = [text for *_, text in reversed(MESSAGES)]
    assert page.evaluate(ROWS) == newest_first
    assert page.evaluate("document.querySelectorAll('#lines b').length") == 0
    page.select_option("#messages select", "errors")
    assert page.evaluate(ROWS) == newest_first[:1]
    page.select_option("#messages select", "warnings and errors")
    page.fill("#messages input", "value NOTHING server")
    assert page.evaluate(ROWS) == newest_first[1:2]
    page.fill("#messages input", "")
    with (root / "messages.txt").open("a") as file:
        file.write(message((4, "note", "client 0", "left out")) + message((5, "error", "client 1", "new")))
    until(page, f"() => {ROWS}.length === 3")
    assert page.evaluate(ROWS) == ["new", *newest_first[:2]]
    page.select_option("#messages select", "all")
    assert page.evaluate(ROWS)[:2] == ["new", "left out"]
    page.locator("#messages").scroll_into_view_if_needed()
