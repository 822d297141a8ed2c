/** What is looked at stands in the address, so that a link shows the same and "back" goes back. */
import { useLocation, useSearchParams } from 'wouter';

export function useParameter(name: string, fallback: string): [string, (value: string) => void] {
  const [parameters, setParameters] = useSearchParams();
  const set = (value: string): void =>
    setParameters(
      (before) => {
        const next = new URLSearchParams(before);
        if (value === fallback) next.delete(name);
        else next.set(name, value);
        return next;
      },
      { replace: true },
    );
  return [parameters.get(name) ?? fallback, set];
}

/** Where a session of this kind is shown. */
export function sessionAddress({ id, kind }: { id: string; kind: string }): string {
  return `/${FOLDERS[kind] ?? 's'}/${id}`;
}

const FOLDERS: Record<string, string> = { workflow: 'w', research: 'r', beads: 'sw' };

export function useGo(): (address: string) => void {
  const [, navigate] = useLocation();
  return navigate;
}
