/** Neither database takes a NUL, and half a surrogate pair is no text. */
export function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed();
}

export const NOT_STORABLE = 'must not contain NUL or broken Unicode';
