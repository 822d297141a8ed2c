/** Light and dark by the reader's choice; no font, image or script from outside. */
export const PAGE_STYLE = `
:root { color-scheme: light dark; --text: #1f2328; --back: #fff; --soft: #59636e; --line: #d1d9e0; --good: #1a7f37; --bad: #cf222e; --unsure: #9a6700; --work: #0969da; }
@media (prefers-color-scheme: dark) {
  :root { --text: #f0f6fc; --back: #0d1117; --soft: #9198a1; --line: #3d444d; --good: #3fb950; --bad: #ff7b72; --unsure: #d29922; --work: #58a6ff; }
}
body { margin: 0; background: var(--back); color: var(--text); font: 14px/20px system-ui, sans-serif; }
main { max-width: 72rem; margin: 0 auto; padding: 24px 16px 64px; }
h1 { font-size: 24px; line-height: 32px; overflow-wrap: anywhere; }
h2 { margin-top: 40px; border-bottom: 1px solid var(--line); font-size: 18px; line-height: 28px; }
h3 { font-size: 15px; margin-bottom: 4px; }
h4 { margin: 0 0 4px; color: var(--soft); font-size: 13px; font-weight: 600; }
.headline { font-size: 16px; }
.note { color: var(--soft); }
table { border-collapse: collapse; }
th, td { padding: 4px 16px 4px 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; overflow-wrap: anywhere; }
th { color: var(--soft); font-weight: 400; }
section { border-bottom: 1px solid var(--line); padding-bottom: 12px; }
.sides { display: grid; grid-template-columns: 1fr 1fr; gap: 24px; }
.sides > div { min-width: 0; }
.sides ul { margin: 0; padding-left: 18px; overflow-wrap: anywhere; }
@media (max-width: 720px) { .sides { grid-template-columns: 1fr; gap: 8px; } }
pre { margin: 0; overflow-x: auto; white-space: pre-wrap; overflow-wrap: anywhere; font: 13px/18px ui-monospace, monospace; }
section > details { margin-top: 8px; }
.transcript th { white-space: nowrap; }
pre.diff { white-space: pre; border: 1px solid var(--line); padding: 8px; }
code { font: 13px/18px ui-monospace, monospace; }
summary { cursor: pointer; color: var(--soft); }
.good, .complete, .verified, .added { color: var(--good); }
.bad, .failed, .rejected, .aborted, .crashed, .removed { color: var(--bad); }
.unsure, .blocked, .paused, .unverified, .verified_checks_changed { color: var(--unsure); }
.running, .place { color: var(--work); }
.file { font-weight: 600; }
.wide { overflow-x: auto; }
.wide td { padding: 4px 12px 4px 0; overflow-wrap: break-word; min-width: 4ch; }
.wide th { white-space: nowrap; }
.wide td:nth-child(6) { min-width: 14ch; }
.wide ul { margin: 0; padding-left: 18px; }
.keep { color: var(--good); font-weight: 600; }
.crash { color: var(--bad); }
.discard { color: var(--soft); }
figure { margin: 16px 0; }
svg { width: 100%; height: auto; }
@media print {
  :root { --text: #000; --back: #fff; --soft: #444; --line: #999; --good: #116329; --bad: #a40e26; --unsure: #6e4600; --work: #0550ae; }
  main { max-width: none; padding: 0; }
  .wide { overflow: visible; }
  pre, pre.diff { white-space: pre-wrap; overflow: visible; }
  tr, figure { break-inside: avoid; }
  h2, h3 { break-after: avoid; }
  section details::details-content { content-visibility: visible; display: block; }
}
`;
