/** Texts that would run, load or draw something if they were ever taken for markup. */

/** Each says so in `window.hacked` if it runs, and asks the trap if it loads. */
export function hostileTexts(trap: string): string[] {
  const run = 'window.hacked=1';
  return [
    `<img src="${trap}/img" onerror="${run}">`,
    `<script>${run}</script><script src="${trap}/script"></script>`,
    `"><svg onload="${run}"><animate onbegin="${run}" attributeName="x"/></svg>`,
    `'><body onload='${run}'><input autofocus onfocus='${run}'>`,
    `</title></textarea></style></pre></code><iframe srcdoc="<script>parent.hacked=1</script>"></iframe>`,
    `[click](javascript:${run}) ![x](${trap}/markdown.png) <javascript:${run}>`,
    `[a](data:text/html,<script>${run}</script> "t\\" onmouseover=${run}")`,
    `<a href="javascript:${run}" target="_blank">x</a><form action="${trap}/form"><button formaction="javascript:${run}">`,
    `<link rel="stylesheet" href="${trap}/css"><style>@import "${trap}/import"; body { display: none }</style>`,
    `<meta http-equiv="refresh" content="0;url=${trap}/refresh"><base href="${trap}/">`,
    `<object data="${trap}/object"></object><embed src="${trap}/embed"><video src="${trap}/video" autoplay></video>`,
    `<math><mi xlink:href="javascript:${run}">x</mi></math><details open ontoggle="${run}">`,
    `{{constructor.constructor("${run}")()}} \${${run}} <%= ${run} %>`,
    `\`\`\`html\n<img src=x onerror=${run}>\n\`\`\`\n> <img src=x onerror=${run}>\n- **<img src=x onerror=${run}>**`,
    `\u202e\u2028<scr\u0000ipt>${run}</script>\u001b]8;;${trap}/osc\u0007x\u001b]8;;\u0007&lt;img src=x onerror=${run}&gt;`,
  ];
}

/** Found by its words in what a page shows, so that a view which shows nothing does not pass for a harmless one. */
export function marked(place: string, text: string): string {
  return `hostile ${place}: ${text}`;
}
