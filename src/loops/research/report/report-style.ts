/** Light and dark by the reader's choice; no font, image or script from outside. */
export const REPORT_STYLE = `
:root { color-scheme: light dark; --text: #1f2328; --back: #ffffff; --soft: #656d76; --line: #d0d7de; --good: #1a7f37; --bad: #cf222e; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e6edf3; --back: #0d1117; --soft: #8d96a0; --line: #30363d; --good: #3fb950; --bad: #f85149; }
}
body { margin: 0; background: var(--back); color: var(--text); font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 68rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
h1 { font-size: 1.6rem; overflow-wrap: anywhere; }
h2 { margin-top: 2.5rem; border-bottom: 1px solid var(--line); }
figure { margin: 1rem 0; }
svg { width: 100%; height: auto; }
.headline { font-size: 1.2rem; }
.note { color: var(--soft); font-size: 0.9rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: 0.9rem; width: 100%; }
th, td { padding: 0.3rem 0.6rem; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
td:nth-child(3), td:nth-child(4) { text-align: right; font-variant-numeric: tabular-nums; }
td:nth-child(5) { white-space: nowrap; }
td:nth-child(6) { min-width: 14rem; }
td:last-child { color: var(--soft); min-width: 16rem; }
td:last-child pre { max-width: 24rem; white-space: pre-wrap; overflow-wrap: anywhere; }
summary { cursor: pointer; }
tr.keep td:nth-child(5) { color: var(--good); font-weight: 600; }
tr.crash td:nth-child(5) { color: var(--bad); }
pre { overflow-x: auto; padding: 0.75rem; border: 1px solid var(--line); border-radius: 6px; font-size: 0.85rem; }
.added { color: var(--good); }
.removed { color: var(--bad); }
.place { color: var(--soft); }
`;
