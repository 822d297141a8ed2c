/**
 * What was learnt of files, kept on disk between processes: a file that another session has read is not read again.
 * Derived from the files alone; a cache that cannot be read is made again, and one that is full forgets the oldest.
 */
import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** A change of what is stored, of how files are cut or of the model makes everything stored before worthless. */
const VERSION = 2;
const MOST_BYTES = 96 * 1024 * 1024;
/** Of all projects together: the one that was not used for longest goes. */
const MOST_BYTES_IN_ALL = 512 * 1024 * 1024;
const DAY_MS = 86_400_000;
/** Few enough that a process that ends soon has kept most of what it learnt. */
const BATCH = 50;

export interface BlobCache extends Disposable {
  /** `null` where nothing is stored. Does not throw. */
  read(key: string): Uint8Array | null;
  /** Written with others by `flush`. */
  write(key: string, value: Uint8Array): void;
  flush(): void;
}

/** `null` where there can be none: then files are read again. */
export function openBlobCache(
  folder: string,
  { project, mostBytes = MOST_BYTES, mostBytesInAll = MOST_BYTES_IN_ALL }: CacheOptions,
): BlobCache | null {
  const path = join(folder, `${project.replace(/[^\w-]/g, '_').slice(0, 100)}.db`);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    makeRoom(folder, { path, mostBytes: mostBytesInAll });
    return cacheIn(open(path), mostBytes);
  } catch (error) {
    // A database that others use, or one that cannot be had now, is theirs: without it files are read again.
    if (!isNoDatabase(error)) return null;
    try {
      // Half of a file, or of another program: it holds nothing that cannot be read again.
      for (const end of ['', '-wal', '-shm']) rmSync(`${path}${end}`, { force: true });
      return cacheIn(open(path), mostBytes);
    } catch {
      return null;
    }
  }
}

/** SQLite's CORRUPT and NOTADB. */
const NO_DATABASE: readonly unknown[] = [11, 26];

function isNoDatabase(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && NO_DATABASE.includes(Number(error.errcode) & 0xff);
}

export interface CacheOptions {
  project: string;
  mostBytes?: number;
  mostBytesInAll?: number;
}

function open(path: string): DatabaseSync {
  const db = new DatabaseSync(path, { timeout: 1_000 });
  db.exec('PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF');
  db.exec(`CREATE TABLE IF NOT EXISTS files (
    key text PRIMARY KEY, value blob NOT NULL, used_at integer NOT NULL) WITHOUT ROWID`);
  const { user_version: version } = db.prepare('PRAGMA user_version').get() as { user_version: number };
  if (version !== VERSION) db.exec(`DELETE FROM files; PRAGMA user_version = ${VERSION}`);
  return db;
}

function cacheIn(db: DatabaseSync, mostBytes: number): BlobCache {
  const find = db.prepare('SELECT value, used_at FROM files WHERE key = ?');
  const put = db.prepare('INSERT OR REPLACE INTO files (key, value, used_at) VALUES (?, ?, ?)');
  const touch = db.prepare('UPDATE files SET used_at = ? WHERE key = ?');
  const unwritten = new Map<string, Uint8Array>();
  const used = new Set<string>();

  function flush(): void {
    if (unwritten.size === 0 && used.size === 0) return;
    try {
      db.exec('BEGIN IMMEDIATE');
      for (const [key, value] of unwritten) put.run(key, value, Date.now());
      for (const key of used) touch.run(Date.now(), key);
      forgetOldest(db, mostBytes);
      db.exec('COMMIT');
      db.exec('PRAGMA incremental_vacuum');
    } catch {
      // Another process writes, or the disk is full: what is not kept is read again.
      if (db.isTransaction) db.exec('ROLLBACK');
    }
    unwritten.clear();
    used.clear();
  }

  return {
    read(key) {
      const waiting = unwritten.get(key);
      if (waiting) return waiting;
      try {
        const row = find.get(key) as { value: Uint8Array; used_at: number } | undefined;
        if (row && row.used_at < Date.now() - DAY_MS) used.add(key);
        return row?.value ?? null;
      } catch {
        return null;
      }
    },
    write(key, value) {
      unwritten.set(key, value);
      if (unwritten.size >= BATCH) flush();
    },
    flush,
    [Symbol.dispose]() {
      flush();
      db.close();
    },
  };
}

function forgetOldest(db: DatabaseSync, mostBytes: number): void {
  const { bytes } = db.prepare('SELECT coalesce(sum(length(value)), 0) AS bytes FROM files').get() as {
    bytes: number;
  };
  if (bytes <= mostBytes) return;
  let over = bytes - 0.75 * mostBytes;
  const oldest = db.prepare('SELECT key, length(value) AS bytes FROM files ORDER BY used_at').all();
  const forget = db.prepare('DELETE FROM files WHERE key = ?');
  for (const { key, bytes: freed } of oldest as { key: string; bytes: number }[]) {
    if (over <= 0) break;
    forget.run(key);
    over -= freed;
  }
}

function makeRoom(folder: string, { path, mostBytes }: { path: string; mostBytes: number }): void {
  const files = readdirSync(folder)
    .map((name) => join(folder, name))
    .flatMap((file) => {
      const stats = statSync(file, { throwIfNoEntry: false });
      return stats ? [{ file, bytes: stats.size, at: stats.mtimeMs }] : [];
    })
    .sort((a, b) => a.at - b.at);
  let sum = files.reduce((total, { bytes }) => total + bytes, 0);
  for (const { file, bytes } of files) {
    if (sum <= mostBytes) return;
    if (file.startsWith(path)) continue;
    rmSync(file, { force: true });
    sum -= bytes;
  }
}
