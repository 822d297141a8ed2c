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
      return readSections(content, protects)
        .filter(isProtected)
        .map(({ lines }) => lines.map((line) => line.trimEnd()).filter((line) => !isBlank(line)))
        .map((lines) => lines.join('\n'))
        .join('\n');
    },
    merge(base, claim) {
      const free = readSections(claim, protects).filter((section) => !isProtected(section));
      const own = readSections(base, protects).filter(isProtected);
      return [...free, ...own]
        .flatMap(({ lines }) => lines)
        .join('\n')
        .replace(/\n*$/, '\n');
    },
  });
}

/**
 * A header at the beginning of a line starts a section. One that is indented may be part of a value: it starts a
 * section only if that section is protected, so that none ends too early and none is missed.
 */
function readSections(content: string, protects: (section: string) => boolean): Section[] {
  const sections: Section[] = [{ name: null, lines: [] }];
  for (const line of content.split(/\r?\n/)) {
    const header = /^([\s\uFEFF]*)\[([^\]]*)\]/.exec(line);
    const [, indent = '', inner = ''] = header ?? [];
    const name = inner.trim();
    if (header !== null && (/^\uFEFF?$/.test(indent) || protects(name))) sections.push({ name, lines: [] });
    sections.at(-1)!.lines.push(line);
  }
  return sections;
}

function isBlank(line: string): boolean {
  return /^\s*(?:[#;].*)?$/.test(line);
}
