/** The one way to a terminal: what others wrote is shown as text. */
import { escapeControls } from '../domain/control-characters.ts';

/** What `createStyle` makes, and no other sequence: bold, dim, the colours, and their ends. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: this is what is looked for
const OWN_STYLE = /(\x1b\[(?:1|2|22|31|32|33|36|39)m)/;

/** Every control character and change of direction is written out (`\u001b`); Pulse's own colours stay. */
export function printable(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .split(OWN_STYLE)
    .map((part, index) => (index % 2 === 1 ? part : escapeControls(part)))
    .join('');
}
