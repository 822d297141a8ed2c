/** Takes out of a message what changes from run to run, and leaves what tells one issue from another. */

const MAX_READ = 1000;
const MAX_KEPT = 300;

/**
 * In this order: what is longer and more telling goes before what could be a part of it. Every quantifier is bounded,
 * so the cost does not depend on what stands in the message. Plain small numbers stay: `Expected 2 arguments` is not
 * `Expected 3 arguments`.
 */
const VOLATILE: readonly [RegExp, string][] = [
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi, '<id>'],
  [
    /\b\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?(?: ?(?:Z\b|[+-]\d{2}:?\d{2}))?)?/g,
    '<time>',
  ],
  [/\b\d{1,2}:\d{2}:\d{2}(?:[.,]\d{1,9})?(?: ?[AP]M\b)?/g, '<time>'],
  [/(?:\/private)?\/(?:tmp|var\/tmp|var\/folders|dev\/shm)\/[^\s'"`)\]},;:]{1,400}/g, '<tmp>'],
  [/\b[A-Z]:[\\/](?:[^\s\\/:'"]{1,80}[\\/]){1,8}Temp[\\/][^\s'"`)\]},;:]{1,400}/gi, '<tmp>'],
  [/\b0x[0-9a-f]{1,32}\b/gi, '<address>'],
  [/([\w$]@)[0-9a-f]{4,16}\b/g, '$1<address>'],
  [/\b(?=[0-9a-f]{0,64}\d)(?=\d{0,64}[a-f])[0-9a-f]{7,64}\b/gi, '<hash>'],
  [/\b(localhost|\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1?\]):\d{2,5}\b/g, '$1:<port>'],
  [/\b((?:pid|process|ThreadId|thread)[ =:(#]{1,3})\d{1,10}\b/gi, '$1<n>'],
  // A place in a file: path.ext:12:5, path.ext(12,5), path.ext:[12,5], "line 12, column 5", (line 3).
  [/(\.[A-Za-z]\w{0,9}):\d{1,9}(?::\d{1,9})?(?!\w)/g, '$1'],
  [/(\.[A-Za-z]\w{0,9}):?[([]\d{1,9}(?:, ?\d{1,9})?[)\]]/g, '$1'],
  [/\bline:? \d{1,9}(?:,? (?:col(?:umn)?:?) \d{1,9})?\b/gi, 'line <n>'],
  [
    /(?<![\w.])\d{1,12}(?:\.\d{1,12})? ?(?:ns|[µμ]s|ms|s|sec(?:ond)?s?|min(?:ute)?s?|milliseconds?)(?![\w-])/g,
    '<duration>',
  ],
  [/(?<![\w.])\d{1,12}(?:\.\d{1,12})? ?%/g, '<n>%'],
  [/(?<![\w.])-?\d{1,20}\.\d{5,20}(?:e[+-]?\d{1,3})?\b/g, '<n>'],
  [/(?<![\w.])\d{9,20}\b/g, '<n>'],
];

export function normaliseMessage(raw: string, roots: readonly string[] = []): string {
  let text = raw.slice(0, MAX_READ);
  for (const root of roots) text = withoutRoot(text, root);
  for (const [pattern, put] of VOLATILE) text = text.replace(pattern, put);
  const quiet = text.replace(/\s{1,1000}/g, ' ').trim();
  return quiet.slice(0, MAX_KEPT).replace(/(?<!\.)\.$/, '');
}

function withoutRoot(text: string, root: string): string {
  if (root.length < 2) return text;
  return text.replaceAll(`file://${root}/`, '').replaceAll(`${root}/`, '').replaceAll(root, '.');
}
