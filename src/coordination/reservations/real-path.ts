import { realpath } from 'node:fs/promises';

/**
 * An absolute path, or pattern, without links in the part of it that exists; what is relative stays. The top of a
 * repository is known by its real path, and people name it by links, too.
 */
export async function withoutLinks(path: string): Promise<string> {
  if (!path.startsWith('/') || path.length > 4_096) return path;
  const names = path.split('/');
  for (let count = names.length; count > 1; count--) {
    const real = await realpath(names.slice(0, count).join('/')).catch(() => null);
    if (real !== null) return [real, ...names.slice(count)].join('/');
  }
  return path;
}
