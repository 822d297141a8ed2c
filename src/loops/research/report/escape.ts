const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Safe as text and within quoted attributes, in HTML and in SVG as XML: characters that XML forbids become �. */
export function escapeMarkup(text: string): string {
  return text
    .toWellFormed()
    .replace(/[\p{Cc}\uFFFE\uFFFF]/gu, (character) => (/[\t\n\r]/.test(character) ? character : '\uFFFD'))
    .replace(/[&<>"']/g, (character) => ENTITIES[character]!);
}
