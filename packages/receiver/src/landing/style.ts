/** The colours of the service's pages; the fonts of the system, since nothing is loaded. */
export const style = `
:root{color-scheme:light dark;--canvas:light-dark(#f7f6f3,#131211);--surface:light-dark(#fff,#1c1a18);--sunken:light-dark(#f3f1ec,#232120);--line:light-dark(#e4e1da,#34312e);--edge:light-dark(#8a837a,#7b746c);--ink:light-dark(#1c1917,#f3f1ee);--muted:light-dark(#6b645c,#a8a29a);--brand:light-dark(#a8600a,#e0a458);--good:light-dark(#15703f,#6fcf97);--good-soft:light-dark(#e3f3e9,#17301f);--warn:light-dark(#8f5400,#e9b44c);--warn-soft:light-dark(#fbefd9,#33270f);--bad:light-dark(#b3261e,#f28b82);--bad-soft:light-dark(#fbe7e5,#391c1a);--mono:ui-monospace,"SF Mono","JetBrains Mono",Menlo,Consolas,monospace}
*{box-sizing:border-box;margin:0}
body{background:var(--canvas);color:var(--ink);font:15px/1.6 Inter,ui-sans-serif,system-ui,sans-serif;-webkit-font-smoothing:antialiased}
main{max-width:46rem;margin:0 auto;padding:clamp(1.5rem,5vw,3.5rem) 1rem 4rem}
header{display:flex;flex-wrap:wrap;align-items:center;gap:.25rem .75rem}
header p{flex-basis:100%;color:var(--muted)}
h1{font-size:22px;line-height:28px;font-weight:600;letter-spacing:-.01em}
h2{font-size:15px;font-weight:600;margin:2rem 0 .5rem}
b{font-weight:500}
code,pre,.method,time,.when .sub{font-family:var(--mono);font-size:13px}
.card{background:var(--surface);border:1px solid var(--line);border-radius:14px;padding:0;list-style:none;overflow:hidden}
.rows>li{display:flex;gap:.5rem 1rem;align-items:center;padding:.7rem 1rem}
.rows>li+li{border-top:1px solid var(--line)}
.rows>li>div:not(.when){flex:1 1 0;min-width:0;line-height:1.4}
.handler{flex-wrap:wrap}
.rows>.handler>div:not(.when){flex:1 1 17rem}
.url{display:block;color:var(--muted);overflow-wrap:anywhere;user-select:all}
.method{color:var(--brand);user-select:none}
.sub{display:block;color:var(--muted);font-size:13.5px;overflow-wrap:anywhere}
.note{margin-left:.5rem;color:var(--muted);font-size:12.5px}
.when{text-align:right;line-height:1.4;white-space:nowrap}
time{color:var(--muted)}
.chip{display:inline-flex;align-items:center;height:24px;padding:0 .625rem;border-radius:99px;font-size:12.5px;font-weight:500;white-space:nowrap}
.delivery .chip{min-width:3.25rem;justify-content:center}
.good{background:var(--good-soft);color:var(--good)}.warn{background:var(--warn-soft);color:var(--warn)}.bad{background:var(--bad-soft);color:var(--bad)}
.notice{margin-top:1rem;padding:.7rem 1rem;border-radius:14px;background:var(--warn-soft);color:var(--warn)}
.notice code{font-size:inherit}
button{font:inherit;font-size:14px;font-weight:500;height:36px;padding:0 .875rem;border:1px solid var(--edge);border-radius:9px;background:var(--surface);color:inherit;cursor:pointer}
button:hover{background:var(--sunken)}
:focus-visible{outline:2px solid var(--brand);outline-offset:2px}
a{color:inherit;text-decoration:underline;text-decoration-color:var(--edge);text-underline-offset:4px}
a:hover{text-decoration-color:currentColor}
.empty{padding:1rem;color:var(--muted)}
pre{margin-top:.5rem;padding:.75rem;border-radius:9px;background:var(--sunken);color:var(--ink);overflow-x:auto}
.steps{counter-reset:step}
.steps li{counter-increment:step;display:block;position:relative;padding:.7rem 1rem .7rem 3.25rem}
.steps li+li{border-top:1px solid var(--line)}
.steps li::before{content:counter(step);position:absolute;left:1rem;top:.72rem;width:1.5rem;height:1.5rem;border-radius:99px;background:var(--sunken);color:var(--muted);font-size:12.5px;line-height:1.5rem;text-align:center}
.fine{margin-top:.5rem;color:var(--muted);font-size:13.5px}
`.replaceAll("\n", "");
