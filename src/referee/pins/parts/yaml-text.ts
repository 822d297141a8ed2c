/** YAML as plain values. */
import { parse } from 'yaml';

type Json = Record<string, unknown>;

/** `null`: it is no map, a key stands twice, or it is broken. */
export function readYaml(text: string): Json | null {
  if (text.trim() === '') return {};
  try {
    const value: unknown = parse(text, { merge: true, maxAliasCount: 50, logLevel: 'error' });
    return value !== null && objectOf(value) === value ? (value as Json) : null;
  } catch {
    return null;
  }
}

export function objectOf(value: unknown): Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {};
}
