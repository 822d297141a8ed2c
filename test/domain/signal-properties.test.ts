import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { scanProse } from '../../src/domain/prose.ts';
import { parseSignal } from '../../src/domain/signals.ts';
import { outputSummary } from '../../src/domain/summary.ts';

const DONE = '<signal>COMPLETE</signal>';
const PIECES = [
  DONE,
  '<signal>',
  '</signal>',
  '<signal>BLOCKED: x</signal>',
  '<anchor_hint>',
  '<turn_id>t</turn_id>',
  '</anchor_hint>',
  '`',
  '``',
  '```',
  '~~~~',
  '>',
  '> ',
  '- ',
  '1. ',
  '# ',
  '---',
  '<!--',
  '-->',
  '\\',
  '\n',
  '\n\n',
  '\r\n',
  '\r',
  '\t',
  '    ',
  '\0',
  '\ufeff',
  '\u200b',
  '\ud800',
  'text',
  'All tasks are complete.',
  'not ',
  'if ',
  'please provide',
  '"',
];
const message = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 200 }),
  fc.array(fc.constantFrom(...PIECES), { maxLength: 40 }).map((pieces) => pieces.join('')),
);
const KEYS = [
  'signal',
  'reason',
  'source',
  'rule',
  'anchorHint',
  'mentions',
  'conflict',
  'checksChanged',
].sort();
const line = fc.constantFrom(
  'text',
  '',
  '- item',
  '> quoted',
  '  ```',
  '~~~',
  '`',
  '<!-- x -->',
  DONE,
  '# head',
  '\ttab',
);
const lines = fc.array(line, { maxLength: 12 }).map((all) => all.join('\n'));

describe('the signal parser', () => {
  it('never throws and always gives the whole contract', () => {
    fc.assert(
      fc.property(message, (text) => {
        const parsed = parseSignal(text);
        expect(Object.keys(parsed).sort()).toEqual(KEYS);
        expect(['CONTINUE', 'COMPLETE', 'BLOCKED']).toContain(parsed.signal);
        expect(parsed.conflict.length).not.toBe(1);
        expect(parseSignal(text)).toEqual(parsed);
        outputSummary(text);
      }),
      { numRuns: 3000 },
    );
  });

  it('never takes a tag out of a fence, whatever stands inside it', () => {
    fc.assert(
      fc.property(lines, fc.constantFrom('`', '~'), (inside, mark) => {
        const fence = mark.repeat(9);
        expect(parseSignal(`${fence}\n${inside}\n${DONE}\n${fence}`).source).not.toBe('explicit');
      }),
      { numRuns: 500 },
    );
  });

  it('never takes a tag out of a block quote', () => {
    fc.assert(
      fc.property(lines, (inside) => {
        const quoted = `${inside}\n${DONE}`.replace(/^/gm, '> ');
        expect(parseSignal(quoted).source).not.toBe('explicit');
      }),
      { numRuns: 500 },
    );
  });

  it('reads the same with LF, CRLF and CR', () => {
    fc.assert(
      fc.property(lines, (text) => {
        const expected = parseSignal(text);
        for (const end of ['\r\n', '\r']) {
          const { signal, rule, mentions } = parseSignal(text.replaceAll('\n', end));
          expect({ signal, rule, mentions }).toEqual({
            signal: expected.signal,
            rule: expected.rule,
            mentions: expected.mentions,
          });
        }
      }),
      { numRuns: 500 },
    );
  });

  it('accepts a signal on the last line after closed prose', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('text', '', '- item', '> q', '# h', '```\nx\n```'), { maxLength: 10 }),
        (all) => {
          expect(parseSignal(`${all.join('\n')}\n\n${DONE}`)).toMatchObject({
            signal: 'COMPLETE',
            source: 'explicit',
          });
        },
      ),
    );
  });

  it('keeps one kind per character', () => {
    fc.assert(fc.property(message, (text) => scanProse(text).kinds.length === text.length));
  });
});

describe('a message of megabytes is read in linear time', () => {
  const SIZE = 2_000_000;
  const fill = (piece: string) => piece.repeat(Math.ceil(SIZE / piece.length));
  it.each([
    ['letters', fill('a')],
    ['sentences', fill('. ')],
    ['backtick runs of all lengths', Array.from({ length: 2000 }, (_, i) => '`'.repeat(i + 1)).join(' ')],
    ['lone backticks', fill('` x\n')],
    ['opened comments', fill('<!--')],
    ['opened tags', fill('<signal>')],
    ['tags', fill(DONE)],
    ['opened hints', fill('<anchor_hint><turn_id>')],
    ['quote markers', fill('>')],
    ['nested lists and blank lines', `${fill('- ').slice(0, SIZE / 2)}x\n${'\n'.repeat(SIZE / 2)}`],
    ['blank lines', fill('\n')],
    ['headings', fill('# a\n')],
    ['fences', fill('```\n')],
    ['void phrases', fill('not all tasks are complete ')],
    ['void requests', fill('not please provide ')],
    ['quotation marks', fill('“"')],
    ['underscores', fill('_')],
    ['zero-width spaces', fill('\u200b')],
    ['dashes', `x ${fill('-')}`],
  ])('%s', (_title, text) => {
    const start = performance.now();
    parseSignal(text);
    outputSummary(text);
    expect(performance.now() - start).toBeLessThan(10_000);
  });
});
