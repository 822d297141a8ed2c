/** The first paragraph of a comment as a person would ask it, without the name of what it stands at. */

const MIN_WORDS = 3;
const MAX_LENGTH = 300;
/** Said of every file or for a program. */
const NO_QUESTION =
  /copyright|licen[sc]e|eslint|tslint|prettier|istanbul|nolint|noinspection|@ts-|pylint|rubocop|type: ignore|^todo\b|^fixme\b|^xxx\b|generated|^deprecated|^see\b|^go:|inheritdoc|spdx/i;

/** `null` where it is no question. */
export function cleanDoc(raw: string, name: string): string | null {
  const lines = raw
    .replace(/^[rubfRUBF]{0,2}(?:"""|'''|"|')/, '')
    .replace(/(?:"""|'''|"|')$/, '')
    .split('\n')
    .map((line) =>
      line
        .replace(/^\s*(?:\/\*\*?!?|\*\/|\*|\/\/[/!]?|#+!?|--)/, '')
        .replace(/\*\/\s*$/, '')
        .trim(),
    );
  const first = lines.findIndex((line) => line !== '');
  if (first === -1) return null;
  const paragraph: string[] = [];
  for (const line of lines.slice(first)) {
    if (
      line === '' ||
      /^(?:@|:\w+|\\\w|```|~~~|>>>|[-=*]{3,}|(?:Args|Parameters|Returns|Examples?|Usage)\b:?$)/.test(line)
    ) {
      break;
    }
    paragraph.push(line);
  }
  const text = paragraph
    .join(' ')
    .replaceAll(/\{@\w+\s+([^}|]*)[^}]*\}/g, '$1')
    .replaceAll(/<\/?\w+[^>]*>/g, ' ')
    .replaceAll(/https?:\S+/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim();
  if (NO_QUESTION.test(text)) return null;
  const question = withoutName(text, name).slice(0, MAX_LENGTH);
  const words = question.match(/\p{L}{2,}/gu) ?? [];
  return words.length >= MIN_WORDS ? question : null;
}

function withoutName(text: string, name: string): string {
  const own = name.replaceAll(/[^\w$]/g, '');
  const plain = text.replace(/^[`'"*_]+/, '');
  if (own === '' || !plain.toLowerCase().startsWith(own.toLowerCase())) return text;
  const rest = plain.slice(own.length);
  return /^\w/.test(rest) ? text : rest.replace(/^[\s`'"*_():,.-]+/, '');
}
