import { describe, expect, it } from 'vitest';
import { parseSignal, readSignal } from '../../src/domain/signals.ts';

const DONE = '<signal>COMPLETE</signal>';
const MORE = '<signal>CONTINUE</signal>';
const HINT = '<anchor_hint><turn_id>t-1</turn_id><reason>the design</reason></anchor_hint>';

/** [what it is, message, signal, rule] */
const COUNTS: [string, string, string, string][] = [
  ['a bare tag', DONE, 'COMPLETE', 'explicit:tag-alone'],
  ['a tag after a sentence', `All good. ${DONE}`, 'COMPLETE', 'explicit:tag-trailing'],
  ['a tag on the last line', `Work is left.\n\n${MORE}\n`, 'CONTINUE', 'explicit:tag-alone'],
  ['a tag alone in the middle', `One.\n${MORE}\nTwo.`, 'CONTINUE', 'explicit:tag-alone'],
  ['a tag on the first line', `${MORE}\n\nI did the first half.`, 'CONTINUE', 'explicit:tag-alone'],
  ['lower case', '<signal>complete</signal>', 'COMPLETE', 'explicit:tag-alone'],
  ['mixed case', '<SiGnAl>Complete</sIgNaL>', 'COMPLETE', 'explicit:tag-alone'],
  ['white space around the keyword', '<signal>  COMPLETE\t</signal>', 'COMPLETE', 'explicit:tag-alone'],
  ['the keyword on its own line', '<signal>\nCOMPLETE\n</signal>', 'COMPLETE', 'explicit:tag-alone'],
  [
    'a keyword between no-break spaces',
    '<signal>\u00a0COMPLETE\u3000</signal>',
    'COMPLETE',
    'explicit:tag-alone',
  ],
  ['a zero-width space before the tag', `\u200b${DONE}`, 'COMPLETE', 'explicit:tag-alone'],
  ['a byte order mark', `\ufeff${DONE}`, 'COMPLETE', 'explicit:tag-alone'],
  ['NUL after the tag', `Text. ${DONE}\0\0`, 'COMPLETE', 'explicit:tag-trailing'],
  ['CRLF lines', `One.\r\n${DONE}\r\nTwo.`, 'COMPLETE', 'explicit:tag-alone'],
  ['CR lines', `One.\r${DONE}\rTwo.`, 'COMPLETE', 'explicit:tag-alone'],
  ['four spaces of indentation', `Text:\n\n    ${DONE}\n\nMore.`, 'COMPLETE', 'explicit:tag-alone'],
  ['a tab of indentation', `\t${DONE}\n\nMore.`, 'COMPLETE', 'explicit:tag-alone'],
  ['a list item at the end', `- done\n- ${DONE}`, 'COMPLETE', 'explicit:tag-trailing'],
  ['a numbered item at the end', `1. ${DONE}\n\n`, 'COMPLETE', 'explicit:tag-trailing'],
  ['an indented line of a list item', `- item\n  ${DONE}\n- item`, 'COMPLETE', 'explicit:tag-alone'],
  ['a tag before a hint on its line', `Bye. ${DONE} ${HINT}`, 'COMPLETE', 'explicit:tag-trailing'],
  ['a tag after a hint', `${HINT}\n${DONE}`, 'COMPLETE', 'explicit:tag-alone'],
  ['the same signal twice', `${DONE}\ntext\n${DONE}`, 'COMPLETE', 'explicit:tag-alone'],
  ['a tag after a closed fence', `\`\`\`\ncode\n\`\`\`\n${DONE}`, 'COMPLETE', 'explicit:tag-alone'],
  [
    'a tag after a longer closing fence',
    `\`\`\`\ncode\n\`\`\`\`\`\n${DONE}\nx`,
    'COMPLETE',
    'explicit:tag-alone',
  ],
  [
    'a tag after a fence that its list item closed',
    `- \`\`\`js\n  code\n${DONE}`,
    'COMPLETE',
    'explicit:tag-alone',
  ],
  ['a tag after a quote and a blank line', `> said\n\n${DONE}`, 'COMPLETE', 'explicit:tag-alone'],
  ['a tag after a quoted fence', `> \`\`\`\n> x\n${DONE}\nx`, 'COMPLETE', 'explicit:tag-alone'],
  ['a tag after a quoted fence and a blank line', `> \`\`\`\n\n${DONE}\nx`, 'COMPLETE', 'explicit:tag-alone'],
  ['a tag after a quoted heading', `> # Title\n${DONE}\nx`, 'COMPLETE', 'explicit:tag-alone'],
  ['a tag after a closed comment', `<!-- a\n\nb -->\n${DONE}`, 'COMPLETE', 'explicit:tag-alone'],
  ['a tag after an empty comment', `<!-->\n${DONE}`, 'COMPLETE', 'explicit:tag-alone'],
  ['a tag after an unpaired backtick', `The \` key is stuck. ${DONE}`, 'COMPLETE', 'explicit:tag-trailing'],
  ['a tag after runs of unequal length', `\`a\`\` ${DONE}`, 'COMPLETE', 'explicit:tag-trailing'],
  ['a tag after an escaped backtick', `\\\`a ${DONE}`, 'COMPLETE', 'explicit:tag-trailing'],
  ['a backtick that the paragraph ends', `a \` b\n\n${DONE}\n\nc \` d`, 'COMPLETE', 'explicit:tag-alone'],
  [
    'a comment that is only inline code',
    `Write \`<!--\` there.\n\n${DONE}`,
    'COMPLETE',
    'explicit:tag-alone',
  ],
  [
    'a tag after a backtick fence with backticks in its info',
    `\`\`\` a\`b\n\n${DONE}`,
    'COMPLETE',
    'explicit:tag-alone',
  ],
  ['a tag after a fence of two backticks', `\`\`\n${DONE}\n\nx`, 'COMPLETE', 'explicit:tag-alone'],
  ['an unclosed tag before a closed one', `<signal>COMPLETE\n${MORE}`, 'CONTINUE', 'explicit:tag-alone'],
  [
    'an unknown keyword beside a known one',
    `<signal>DONE</signal>\n${MORE}`,
    'CONTINUE',
    'explicit:tag-alone',
  ],
  ['a bare BLOCKED', '<signal>BLOCKED</signal>', 'BLOCKED', 'explicit:tag-alone:no-reason'],
  [
    'BLOCKED with an empty reason',
    'x <signal>BLOCKED: </signal>',
    'BLOCKED',
    'explicit:tag-trailing:no-reason',
  ],
];

/** Tags that do not count. [what it is, message, number of mentions] */
const DOES_NOT_COUNT: [string, string, number][] = [
  ['inside a sentence', `I would write ${DONE} here if I could.`, 1],
  ['at the start of a sentence', `${DONE} is what I would write.`, 1],
  ['in bold', `**${DONE}**`, 1],
  ['before a full stop', `Ending with ${DONE}.`, 1],
  ['in inline code', `Say \`${DONE}\``, 1],
  ['in double backticks', `Say \`\`a \` ${DONE}\`\``, 1],
  ['in inline code over lines', `Say \`a\n${DONE}\nb\` there`, 1],
  ['in inline code that only an equally long run closes', `\`a\`\`\`b\n${DONE}\n\``, 1],
  ['in a fence', `\`\`\`\n${DONE}\n\`\`\``, 1],
  ['in a fence with an info string', `\`\`\`xml title="x"\n${DONE}\n\`\`\`\n`, 1],
  ['in a tilde fence', `~~~\n${DONE}\n~~~`, 1],
  ['in a tilde fence with backticks in its info', `~~~ a\`b\n${DONE}\n~~~`, 1],
  ['in a tilde fence that backticks do not close', `~~~\n\`\`\`\n${DONE}`, 1],
  ['in a fence of five that three do not close', `\`\`\`\`\`\n\`\`\`\n${DONE}\n\`\`\``, 1],
  ['in a fence that a fence with an info does not close', `\`\`\`\n\`\`\`js\n${DONE}`, 1],
  ['in an unclosed fence', `Look:\n\`\`\`\n\n${DONE}\n`, 1],
  ['in a fence indented by three', `   \`\`\`\n${DONE}\n   \`\`\``, 1],
  ['in a fence that a closing one indented by four does not close', `\`\`\`\n    \`\`\`\n${DONE}`, 1],
  ['in a fence of a list item', `- x\n\n  \`\`\`\n  ${DONE}\n  \`\`\``, 1],
  ['in a fence on the line of its marker', `1. \`\`\`\n   ${DONE}\n   \`\`\``, 1],
  ['in a fence of a nested list item', `- a\n  - b\n    \`\`\`\n    ${DONE}\n    \`\`\``, 1],
  ['in a fence of a list item after a blank line', `- \`\`\`\n  a\n\n  ${DONE}\n  \`\`\``, 1],
  ['in a fence with CRLF', `\`\`\`\r\n${DONE}\r\n\`\`\`\r\n`, 1],
  ['in a fence with CR', `\`\`\`\r${DONE}\r\`\`\`\r`, 1],
  ['in a fence after a byte order mark', `\ufeff\`\`\`\n${DONE}\n\`\`\``, 1],
  ['in a quote', `> ${DONE}`, 1],
  ['in a quote without a space', `>${DONE}`, 1],
  ['in a nested quote', `> > ${DONE}`, 1],
  ['in a quote in a list', `- > ${DONE}`, 1],
  ['in a list in a quote', `> - ${DONE}`, 1],
  ['in a lazy line of a quote', `> said\n${DONE}`, 1],
  ['in a lazy line of a quoted list item', `> - said\n${DONE}`, 1],
  ['after a lazy line that only looks like an underline', `> said\n===\n${DONE}`, 1],
  ['in an indented lazy line', `> said\n      ${DONE}`, 1],
  ['in a fence in a quote', `> \`\`\`\n> ${DONE}\n> \`\`\``, 1],
  ['in a comment', `<!-- ${DONE} -->`, 1],
  ['in a comment over lines', `<!--\n\n${DONE}\n\n-->`, 1],
  ['in an unclosed comment', `<!-- note\n\n${DONE}`, 1],
  ['in a comment inside a sentence', `Done <!-- ${DONE} --> soon.`, 1],
  ['in an unclosed comment inside a sentence', `Done <!-- \n\n${DONE}`, 1],
  ['in a comment that a fence does not end', `<!--\n\`\`\`\n-- >\n\`\`\`\n${DONE}`, 1],
  ['with an escaped bracket', `\\${DONE}`, 1],
  ['before a comment', `${DONE} <!-- done -->`, 1],
  ['in a list item with text after it', `- ${DONE}\n- more`, 1],
  ['two on a line before more text', `${DONE} ${DONE}\nmore`, 2],
  ['unclosed', '<signal>COMPLETE', 0],
  ['with only a closing tag', 'COMPLETE</signal>', 0],
  ['empty', '<signal></signal>', 0],
  ['with an unknown keyword', '<signal>DONE</signal>', 0],
  ['with two keywords', '<signal>COMPLETE CONTINUE</signal>', 0],
  ['COMPLETE with a reason', '<signal>COMPLETE: yes</signal>', 0],
  ['with a letter that only looks like one', '<signal>COMPLETE\u0301</signal>', 0],
  ['with a dotless i in the keyword', '<signal>CONTıNUE</signal>', 0],
  ['with a dotless i', '<sıgnal>COMPLETE</sıgnal>', 0],
  ['with a zero-width space inside the keyword', '<signal>COM\u200bPLETE</signal>', 0],
  ['with white space in the tag', '< signal >COMPLETE</ signal >', 0],
  ['with an attribute', '<signal a="b">COMPLETE</signal>', 0],
  ['closed by another tag', '<signal>COMPLETE</anchor_hint>', 0],
  ['closed inside a fence', `<signal>COMPLETE\n\`\`\`\n</signal>\n\`\`\``, 0],
  ['opened inside a fence', `\`\`\`\n<signal>\n\`\`\`\nCOMPLETE</signal>`, 0],
  ['the empty message', '', 0],
];

describe('an explicit tag counts as', () => {
  it.each(COUNTS)('%s', (_title, message, signal, rule) => {
    expect(parseSignal(message)).toMatchObject({ signal, rule, source: 'explicit', conflict: [] });
  });
});

describe('a tag does not count', () => {
  it.each(DOES_NOT_COUNT)('%s', (_title, message, mentions) => {
    const parsed = parseSignal(message);
    expect(parsed.source).not.toBe('explicit');
    expect(parsed.signal).not.toBe('COMPLETE');
    expect(parsed.mentions).toHaveLength(mentions);
  });
});

describe('reasons', () => {
  it.each([
    ['one line', '<signal>BLOCKED: need a key</signal>', 'need a key'],
    ['several lines', '<signal>BLOCKED: need\na key</signal>', 'need\na key'],
    ['paragraphs', '<signal>\n  BLOCKED :\n need\n\na key\n</signal>', 'need\n\na key'],
    ['a colon inside', '<signal>blocked: key: which?</signal>', 'key: which?'],
    ['inline code inside', '<signal>BLOCKED: set `API_KEY`</signal>', 'set `API_KEY`'],
    ['a quoted tag inside', `<signal>BLOCKED: may I say \`${DONE}\`?</signal>`, `may I say \`${DONE}\`?`],
    ['a fence inside', '<signal>BLOCKED: run\n```\nnpm login\n```\n</signal>', 'run\n```\nnpm login\n```'],
    ['the last of two', '<signal>BLOCKED: a</signal>\n<signal>BLOCKED: b</signal>', 'b'],
    ['the only one of two', '<signal>BLOCKED: a</signal>\n<signal>BLOCKED</signal>', 'a'],
  ])('are read: %s', (_title, message, reason) => {
    expect(parseSignal(message)).toMatchObject({
      signal: 'BLOCKED',
      source: 'explicit',
      reason,
      mentions: [],
      conflict: [],
    });
  });
});

describe('conflicts', () => {
  it.each([
    ['on two lines', `${DONE}\n${MORE}`, ['COMPLETE', 'CONTINUE']],
    ['on one line', `${MORE} ${DONE}`, ['CONTINUE', 'COMPLETE']],
    ['far apart', `${MORE}\nx\n<signal>BLOCKED: a</signal>`, ['CONTINUE', 'BLOCKED']],
    ['of all three', `${MORE}\n${DONE}\n<signal>BLOCKED</signal>`, ['CONTINUE', 'COMPLETE', 'BLOCKED']],
  ])('between different signals block: %s', (_title, message, conflict) => {
    expect(parseSignal(message)).toMatchObject({
      signal: 'BLOCKED',
      source: 'explicit',
      rule: 'signal_conflict',
      conflict,
    });
  });

  it('are not made by mentions', () => {
    expect(parseSignal(`Not \`${DONE}\` yet.\n\n${MORE}`)).toMatchObject({
      signal: 'CONTINUE',
      mentions: [DONE],
    });
  });
});

describe('anchor hints', () => {
  const reason = 'the design';
  it.each([
    ['on one line', HINT, { turnId: 't-1', reason }],
    [
      'over lines',
      `x\n<anchor_hint>\n  <turn_id> a/b:c </turn_id>\n  <reason>\n${reason}</reason>\n</anchor_hint>\ny`,
      { turnId: 'a/b:c', reason },
    ],
    ['in capitals', '<ANCHOR_HINT><Turn_Id>X</Turn_Id></ANCHOR_HINT>', { turnId: 'X', reason: null }],
    ['after a sentence', `See ${HINT}\n${DONE}`, { turnId: 't-1', reason }],
    [
      'the last of two',
      `${HINT}\n<anchor_hint><turn_id>t-2</turn_id></anchor_hint>`,
      { turnId: 't-2', reason: null },
    ],
    ['in a sentence', `Use ${HINT} for it.`, null],
    ['in code', `\`\`\`\n${HINT}\n\`\`\``, null],
    ['in a quote', `> ${HINT}`, null],
    ['with white space in the id', '<anchor_hint><turn_id>a b</turn_id></anchor_hint>', null],
    ['without an id', '<anchor_hint><reason>x</reason></anchor_hint>', null],
    ['unclosed', `<anchor_hint><turn_id>t</turn_id>\n${DONE}`, null],
  ])('are read: %s', (_title, message, hint) => {
    expect(parseSignal(message).anchorHint).toEqual(hint);
  });
});

describe('a run', () => {
  const toolSignal = { signal: 'CONTINUE', reason: null } as const;

  it('that did not succeed has no signal', () => {
    expect(readSignal({ message: DONE, toolSignal, succeeded: false })).toBeNull();
  });

  it('that called the tool has the tool’s signal and the message’s hint', () => {
    const read = readSignal({ message: `${HINT}\n${DONE}`, toolSignal, succeeded: true });
    expect(read).toMatchObject({
      signal: 'CONTINUE',
      source: 'tool',
      rule: 'tool:pulse_signal',
      conflict: [],
    });
    expect(read?.anchorHint?.turnId).toBe('t-1');
  });

  it('that did not call the tool has the message’s signal', () => {
    expect(readSignal({ message: DONE, toolSignal: null, succeeded: true })?.source).toBe('explicit');
  });
});
