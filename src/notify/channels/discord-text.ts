/** Words that Discord shows as they are. Pure. */

/**
 * It reads Markdown in every message. Only what would be markup is escaped, so that ordinary words stay what they are:
 * an underscore within a word is none, and a hyphen or a hash only at the beginning of a line.
 */
export function inert(text: string): string {
  return (
    text
      .replaceAll(/[\\*`<]/g, String.raw`\$&`)
      .replaceAll(/(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, String.raw`\_`)
      .replaceAll(/~(?=~)|(?<=~)~|\|(?=\|)|(?<=\|)\|/g, String.raw`\$&`)
      // A link that shows other words than its address.
      .replaceAll(/\[(?=[^\]]*\]\()/g, String.raw`\[`)
      .replaceAll(/^(\s*)([>#-])/gm, String.raw`$1\$2`)
  );
}
