/** Neither database takes a NUL, and half a surrogate pair is no text. */
export function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed();
}

export function toStorable(text: string): string {
  return text.replaceAll('\0', '\ufffd').toWellFormed();
}

export const NOT_STORABLE = 'must not contain NUL or broken Unicode';
