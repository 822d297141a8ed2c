/** One row of a diff. */
import { type FormEvent, memo, useState } from 'react';
import { ask, query } from '../api/client.ts';
import type { DiffAsked } from '../api/queries.ts';
import type { Comment, Diff, DiffFile } from '../api/types.ts';
import { Icon } from '../ui/icons.tsx';
import { Button } from '../ui/parts.tsx';
import type { ReviewTools } from './diff-view.tsx';
import type { Line } from './parse.ts';
import type { DiffRow, Place } from './rows.ts';

export interface LineTools {
  folded: ReadonlySet<string>;
  fold(path: string, isFolded: boolean): void;
  source: { base: string; asked: DiffAsked } | undefined;
  onLoaded(file: DiffFile): void;
  review: ReviewTools | undefined;
  editing: Place | null;
  setEditing(place: Place | null): void;
}

export function RowView({ row, tools }: { row: DiffRow; tools: LineTools }) {
  switch (row.row) {
    case 'file':
      return <FileHead file={row.file} tools={tools} />;
    case 'hunk':
      return <div className="hunk">{row.text}</div>;
    case 'line':
      return <LineRow line={row.line} place={row.place} onComment={tools.review && tools.setEditing} />;
    case 'note':
      return <Note text={row.text} file={row.file} tools={tools} />;
    case 'comment':
      return <CommentRow comment={row.comment} index={row.index} review={tools.review!} />;
    default:
      return <Editor place={row.place} review={tools.review!} onClose={() => tools.setEditing(null)} />;
  }
}

const SIGNS = { insert: '+', delete: '-', normal: ' ' } as const;

interface LineRowProps {
  line: Line;
  place: Place;
  onComment: ((place: Place) => void) | undefined;
}

const LineRow = memo(function LineRow({ line, place, onComment }: LineRowProps) {
  return (
    <div
      className={`line line-${line.kind}`}
      data-path={place.path}
      data-side={place.side}
      data-line={place.line}
    >
      <span className="line-numbers">
        <span className="line-number">{line.old ?? ''}</span>
        <span className="line-number">{line.new ?? ''}</span>
        {onComment && (
          <button
            type="button"
            className="line-comment"
            aria-label={`Comment on ${place.path} line ${place.line}`}
            onClick={() => onComment(place)}
          />
        )}
      </span>
      <span className="line-sign">{SIGNS[line.kind]}</span>
      <span className="line-text">{line.text}</span>
    </div>
  );
});

function FileHead({ file, tools }: { file: DiffFile; tools: LineTools }) {
  const { review } = tools;
  const isFolded = tools.folded.has(file.path);
  const isViewed = review?.viewed.includes(file.path) ?? false;
  return (
    <div className="file-head" data-path={file.path}>
      <button
        type="button"
        className="file-fold"
        data-row
        aria-expanded={!isFolded}
        onClick={() => tools.fold(file.path, !isFolded)}
      >
        <Icon name={isFolded ? 'right' : 'down'} />
        <code>{file.path}</code>
      </button>
      <FileCounts file={file} />
      {review && (
        <label className="viewed">
          <input
            type="checkbox"
            checked={isViewed}
            onChange={() => {
              review.onViewed(
                isViewed ? review.viewed.filter((path) => path !== file.path) : [...review.viewed, file.path],
              );
              tools.fold(file.path, !isViewed);
            }}
          />{' '}
          Viewed
        </label>
      )}
    </div>
  );
}

export function FileRow({ file, onChoose }: { file: DiffFile; onChoose(): void }) {
  return (
    <button type="button" className="file-row" onClick={onChoose}>
      <code>{file.path}</code>
      <FileCounts file={file} />
    </button>
  );
}

function FileCounts({ file }: { file: DiffFile }) {
  return (
    <span className="file-counts figures">
      {file.status !== 'modified' && <span className="dim">{file.status.replace('_', ' ')}</span>}
      {file.isBinary ? (
        <span className="dim">binary</span>
      ) : (
        <>
          <span className="added">+{file.added ?? 0}</span>{' '}
          <span className="removed">-{file.removed ?? 0}</span>
        </>
      )}
    </span>
  );
}

function Note({
  text,
  file,
  tools: { source, onLoaded },
}: {
  text: string;
  file: DiffFile;
  tools: LineTools;
}) {
  const [isBusy, setIsBusy] = useState(false);
  const load = async (): Promise<void> => {
    if (!source) return;
    setIsBusy(true);
    const path = `${source.base}/diff${query({ ...source.asked, path: file.path })}`;
    const diff = await ask<Diff>(path).catch(() => null);
    setIsBusy(false);
    const whole = diff?.files[0];
    if (whole) onLoaded(whole);
  };
  return (
    <div className="diff-note">
      {text}{' '}
      {source && file.isTruncated && !file.isBinary && (
        <Button onClick={() => void load()} disabled={isBusy}>
          Show it
        </Button>
      )}
    </div>
  );
}

function CommentRow({ comment, index, review }: { comment: Comment; index: number; review: ReviewTools }) {
  return (
    <div className="comment">
      <p>{comment.text}</p>
      <Button isQuiet onClick={() => review.onComments(review.comments.filter((_, at) => at !== index))}>
        Remove comment
      </Button>
    </div>
  );
}

function Editor({ place, review, onClose }: { place: Place; review: ReviewTools; onClose(): void }) {
  const [text, setText] = useState('');
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    review.onComments([...review.comments, { ...place, text }]);
    onClose();
  };
  return (
    <form className="comment" onSubmit={submit}>
      <label>
        Comment on line {place.line}
        <textarea
          rows={2}
          // biome-ignore lint/a11y/noAutofocus: the person asked for it here
          autoFocus
          value={text}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === 'Escape') onClose();
          }}
        />
      </label>
      <Button onClick={onClose}>Cancel</Button>{' '}
      <Button type="submit" isPrimary disabled={text.trim() === ''}>
        Add comment
      </Button>
    </form>
  );
}
