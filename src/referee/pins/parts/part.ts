/** A protected part of a file: what it says in a canonical form, and how it is put back into another version. */

export interface Part {
  /** `scripts`, `[tool.pytest]`, `target test`, `#[cfg(test)] items`. */
  name: string;
  /** The protected text in a canonical form: equal text means unchanged. Empty where there is none. */
  extract(content: string | null): string;
  /**
   * The claim's file with the protected part as in the base's; `null`: the file is not there. Never throws. A file
   * that cannot be read is protected whole.
   */
  restore(base: string | null, claim: string | null): string | null;
}

export interface PartReader {
  name: string;
  /** The protected text; `null`: the file cannot be read. */
  read(content: string): string | null;
  /** The claim with the base's part. What it makes is read again: where it is not the base's, the base's file stands. */
  merge(base: string, claim: string): string | null;
}

/** The promise of `Part` holds for any reader: what it made is not believed but read again. */
export function createPart({ name, read, merge }: PartReader): Part {
  const extract = (content: string | null): string => {
    if (content === null) return '';
    return attempt(() => read(content)) ?? `cannot be read:\n${content}`;
  };
  return {
    name,
    extract,
    restore(base, claim) {
      const wanted = extract(base);
      if (wanted === extract(claim)) return claim;
      if (claim === null) return base;
      const merged = attempt(() => merge(base ?? '', claim));
      return merged !== null && extract(merged) === wanted ? merged : base;
    },
  };
}

/** A reader of text that others wrote may fail in ways that nobody has tried. */
function attempt<T>(act: () => T | null): T | null {
  try {
    return act();
  } catch {
    return null;
  }
}
