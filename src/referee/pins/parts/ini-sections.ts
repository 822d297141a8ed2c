/** Sections of an INI file that are protected, as configparser and pytest read them. */
import { createPart, type Part } from './part.ts';

interface Section {
  name: string | null;
  lines: string[];
}

export function iniSections(name: string, protects: (section: string) => boolean): Part {
  const isProtected = ({ name: section }: Section) =>
    section !== null && (section === 'DEFAULT' || protects(section));
  return createPart({
    name,
    read(content) {
      const sections = readSections(content, protects);
      if (sections === null) return null;
      return sections
        .filter(isProtected)
        .map(({ lines }) => lines.map((line) => line.trimEnd()).filter((line) => !isBlank(line)))
        .map((lines) => lines.join('\n'))
        .join('\n');
    },
    merge(base, claim) {
      const [before, claimed] = [readSections(base, protects), readSections(claim, protects)];
      if (before === null || claimed === null) return null;
      const sections = [...claimed.filter((section) => !isProtected(section)), ...before.filter(isProtected)];
      return sections
        .flatMap(({ lines }) => lines)
        .join('\n')
        .replace(/\n*$/, '\n');
    },
  });
}

/**
 * A header at the beginning of a line starts a section. One that is indented may be part of a value, or a header: where
 * it has a protected name, nobody can say (`null`).
 */
function readSections(content: string, protects: (section: string) => boolean): Section[] | null {
  const sections: Section[] = [{ name: null, lines: [] }];
  for (const line of content.replace(/^\uFEFF/, '').split(/\r?\n/)) {
    const header = /^(\s*)\[([^\]]*)\]/.exec(line);
    const [, indent = '', inner = ''] = header ?? [];
    const name = inner.trim();
    if (indent !== '' && (protects(name) || name === 'DEFAULT')) return null;
    if (header !== null && indent === '') sections.push({ name, lines: [] });
    sections.at(-1)!.lines.push(line);
  }
  return sections;
}

function isBlank(line: string): boolean {
  return /^\s*(?:[#;].*)?$/.test(line);
}
