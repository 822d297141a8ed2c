/** A diff: its files, then their lines as virtual rows. Comments are rows, too. */
import { useMemo, useRef, useState } from 'react';
import { Virtualizer, type VirtualizerHandle } from 'virtua';
import type { DiffAsked } from '../api/queries.ts';
import type { Comment, DiffFile } from '../api/types.ts';
import { useActions } from '../shell/actions.ts';
import { plural } from '../ui/format.ts';
import { FileRow, type LineTools, RowView } from './row-view.tsx';
import { type Place, rowsOf } from './rows.ts';

export interface ReviewTools {
  comments: readonly Comment[];
  viewed: readonly string[];
  onComments(comments: Comment[]): void;
  onViewed(viewed: string[]): void;
}

interface DiffViewProps {
  files: readonly DiffFile[];
  /** Where one file can be had whole. */
  source?: { base: string; asked: DiffAsked };
  isTruncated?: boolean;
  review?: ReviewTools;
}

/** So few rows are simply there; more have a part of the page of their own that scrolls. */
const PLAIN = 400;

export function DiffView({ files, source, isTruncated = false, review }: DiffViewProps) {
  const [folded, setFolded] = useState<ReadonlySet<string>>(() => new Set(review?.viewed));
  const [editing, setEditing] = useState<Place | null>(null);
  const [loaded, setLoaded] = useState<Readonly<Record<string, DiffFile>>>({});
  const scroller = useRef<HTMLDivElement>(null);
  const handle = useRef<VirtualizerHandle>(null);
  const shown = useMemo(() => files.map((file) => loaded[file.path] ?? file), [files, loaded]);
  const comments = review?.comments ?? NONE;
  const rows = useMemo(
    () => rowsOf({ files: shown, isFolded: (path) => folded.has(path), comments, editing }),
    [shown, folded, comments, editing],
  );
  const fold = (path: string, isFolded: boolean): void =>
    setFolded((before) => {
      const next = new Set(before);
      if (isFolded) next.add(path);
      else next.delete(path);
      return next;
    });
  const tools: LineTools = {
    folded,
    fold,
    source,
    onLoaded: (file) => setLoaded((before) => ({ ...before, [file.path]: file })),
    review,
    editing,
    setEditing,
  };
  useDiffKeys({ files: shown, review, fold, setEditing, isOn: review !== undefined });
  const jump = (path: string): void => {
    fold(path, false);
    const index = rows.findIndex((row) => row.row === 'file' && row.file.path === path);
    if (handle.current) handle.current.scrollToIndex(index);
    else document.getElementById(`file-${index}`)?.scrollIntoView({ block: 'start' });
  };
  const isPlain = rows.length <= PLAIN;
  return (
    <div className={review ? 'diff diff-review' : 'diff'}>
      <FileList files={shown} viewed={review?.viewed} onChoose={jump} />
      {isTruncated && (
        <p className="tone-needs">Some of it is left out: it is longer than 2 MB or 3,000 files.</p>
      )}
      {review && files.length > 0 && <p className="hint">Choose the number of a line to comment on it.</p>}
      {isPlain ? (
        <div className="diff-rows">
          {rows.map((row, index) => (
            <div key={row.key} id={row.row === 'file' ? `file-${index}` : undefined}>
              <RowView row={row} tools={tools} />
            </div>
          ))}
        </div>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard must reach it
        <section className="diff-rows scroller" ref={scroller} tabIndex={0} aria-label="Changed lines">
          <Virtualizer ref={handle} scrollRef={scroller} data={rows} itemSize={review ? 24 : 20}>
            {(row) => <RowView key={row.key} row={row} tools={tools} />}
          </Virtualizer>
        </section>
      )}
    </div>
  );
}

const NONE: readonly Comment[] = [];

interface FileListProps {
  files: readonly DiffFile[];
  viewed: readonly string[] | undefined;
  onChoose(path: string): void;
}

function FileList({ files, viewed, onChoose }: FileListProps) {
  const sum = (key: 'added' | 'removed'): number =>
    files.reduce((total, file) => total + (file[key] ?? 0), 0);
  return (
    <details className="file-list" open={files.length <= 12}>
      <summary>
        {plural(files.length, 'file')} <span className="added">+{sum('added')}</span>{' '}
        <span className="removed">-{sum('removed')}</span>
        {viewed && (
          <span className="dim">
            {' '}
            viewed {files.filter(({ path }) => viewed.includes(path)).length}/{files.length}
          </span>
        )}
      </summary>
      <ul>
        {files.map((file) => (
          <li key={file.path}>
            <FileRow file={file} onChoose={() => onChoose(file.path)} />
          </li>
        ))}
      </ul>
    </details>
  );
}

interface DiffKeys {
  files: readonly DiffFile[];
  review: ReviewTools | undefined;
  fold(path: string, isFolded: boolean): void;
  setEditing(place: Place): void;
  isOn: boolean;
}

/** `c` comments on the line that has the focus, `v` marks its file, or the first that was not viewed. */
function useDiffKeys({ files, review, fold, setEditing, isOn }: DiffKeys): void {
  const focused = (): HTMLElement | null =>
    document.activeElement?.closest<HTMLElement>('[data-path]') ?? null;
  const markViewed = (): void => {
    const path = focused()?.dataset.path ?? files.find((file) => !review!.viewed.includes(file.path))?.path;
    if (path === undefined) return;
    const isViewed = review!.viewed.includes(path);
    review!.onViewed(isViewed ? review!.viewed.filter((name) => name !== path) : [...review!.viewed, path]);
    fold(path, !isViewed);
  };
  const comment = (): void => {
    const { path, side, line } = focused()?.dataset ?? {};
    if (path && line) setEditing({ path, side: side === 'old' ? 'old' : 'new', line: Number(line) });
  };
  useActions(
    isOn
      ? [
          { label: 'Mark the file as viewed', key: 'v', run: markViewed },
          { label: 'Comment on the line', key: 'c', run: comment },
        ]
      : [],
  );
}
