/** A part of a text keeps the whole text in memory as long as it lives. This is the same letters, by themselves. */
export function ownText(part: string): string {
  const encoding = /^[\x20-\x7e]*$/.test(part) ? 'latin1' : 'utf16le';
  return Buffer.from(part, encoding).toString(encoding);
}
