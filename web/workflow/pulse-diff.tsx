/** What one pulse has changed; the API has it as a patch. */
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { send } from '../api/client.ts';
import { DiffView, type ReviewTools } from '../diff/diff-view.tsx';
import { filesOfPatch } from '../diff/parse.ts';
import { Empty, Failure, Loading } from '../ui/parts.tsx';

export function PulseDiff({ id, pulse, review }: { id: string; pulse: string; review?: ReviewTools }) {
  const { data, error } = useQuery({
    queryKey: ['patch', id, pulse],
    queryFn: async ({ signal }) => {
      const answer = await send(`/api/workflows/${id}/pulses/${encodeURIComponent(pulse)}/diff`, { signal });
      return {
        patch: await answer.text(),
        isTruncated: answer.headers.get('pulse-diff-truncated') === 'true',
      };
    },
  });
  const files = useMemo(() => filesOfPatch(data?.patch ?? ''), [data?.patch]);
  if (!data) return error ? <Failure error={error} /> : <Loading of="the changes" />;
  if (files.length === 0) return <Empty>It changed nothing.</Empty>;
  return <DiffView files={files} isTruncated={data.isTruncated} review={review} />;
}
