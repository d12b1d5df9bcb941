// Charts, with the colours of the page.

const dark = matchMedia("(prefers-color-scheme: dark)");
const drawn = new Map();
const PALETTE = ["#2f6fde", "#d9662b", "#2a9d6f", "#9b59b6", "#c2a012", "#c0392b", "#1b9aaa", "#7f8c8d", "#e377c2", "#6b8e23", "#8c6d4f", "#5b5bd6"];

function colours() {
  const style = getComputedStyle(document.documentElement);
  const of = (name) => style.getPropertyValue(name).trim();
  return { text: of("--text"), lines: of("--lines") };
}

function layout(given) {
  const { text, lines } = colours();
  const axis = { gridcolor: lines, zerolinecolor: lines, linecolor: lines, automargin: true };
  return {
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", colorway: PALETTE,
    font: { color: text, size: 12, family: "system-ui, sans-serif" },
    margin: { l: 50, r: 12, t: 8, b: 40 }, showlegend: false, hovermode: "closest", uirevision: "kept",
    legend: { orientation: "h", x: 0, y: 1.02, yanchor: "bottom", font: { size: 11 } }, ...given,
    xaxis: { ...axis, ...given.xaxis }, yaxis: { ...axis, ...given.yaxis },
  };
}

// No button of these sends anything anywhere.
const SETTINGS = { displaylogo: false, modeBarButtons: [["zoom2d", "pan2d", "resetScale2d", "toImage"]] };

// A card gets another width when the window does, and when other cards come.
const sizes = new ResizeObserver((entries) => {
  for (const { target } of entries) if (target.data && target.offsetParent !== null) globalThis.Plotly.Plots.resize(target);
});

// The script that draws is large: it comes after the rest of the page, which shows pictures meanwhile.
if (!globalThis.Plotly) {
  const script = document.createElement("script");
  script.src = "charts.js";
  script.addEventListener("load", () => drawn.forEach(([traces, given], place) => draw(place, traces, given)));
  document.head.append(script);
}

// Draws anew into `place`; zooming stays.
export function draw(place, traces, given) {
  drawn.set(place, [traces, given]);
  if (!globalThis.Plotly || place.offsetParent === null) return; // not there yet, or hidden
  globalThis.Plotly.react(place, traces, { ...layout(given), autosize: true }, SETTINGS);
  sizes.observe(place);
}

export const colour = (number) => PALETTE[number % PALETTE.length];

dark.addEventListener("change", () => {
  for (const [place, [traces, given]] of drawn) draw(place, traces, given);
});
