/** What waits for what. Small graphs are drawn whole; of large ones the waves, and the neighbours of the chosen bead. */
import { useMemo, useState } from 'react';
import { query } from '../api/client.ts';
import { useRead } from '../api/queries.ts';
import type { Graph } from '../api/types.ts';
import { Empty, Failure, Loading } from '../ui/parts.tsx';
import { Outcome } from '../ui/status.tsx';
import { BeadDialog } from './bead-dialog.tsx';
import { layoutOf, type Placed } from './layout.ts';

const DRAWN = 150;
const [WIDTH, HEIGHT, GAP_X, GAP_Y] = [168, 40, 56, 14];

type Node = Graph['nodes'][number];

export function GraphTab({ epic, project }: { epic: string; project: string }) {
  const { data, error } = useRead<Graph>(`/api/beads/graph${query({ epic, project_key: project })}`);
  const [chosen, setChosen] = useState<string | null>(null);
  const [open, setOpen] = useState<string | null>(null);
  const shown = useMemo(() => (data ? beadsOf(data) : null), [data]);
  if (!shown) return error ? <Failure error={error} /> : <Loading of="the graph" />;
  if (shown.nodes.length === 0) return <Empty>The epic has no beads.</Empty>;
  const part = shown.nodes.length > DRAWN && chosen ? aroundOf(shown, chosen) : shown;
  return (
    <div className="graph">
      {part.nodes.length <= DRAWN ? (
        <Drawing graph={part} onOpen={setOpen} />
      ) : (
        <p className="hint">{shown.nodes.length} beads: choose one below to draw it with its neighbours.</p>
      )}
      <Waves graph={shown} chosen={chosen} onChoose={setChosen} onOpen={setOpen} />
      {open && <BeadDialog id={open} project={project} onClose={() => setOpen(null)} />}
    </div>
  );
}

/** Epics are what beads belong to: nobody waits for them. */
function beadsOf({ nodes, edges }: Graph): Graph {
  const beads = nodes.filter(({ type }) => type !== 'epic');
  const ids = new Set(beads.map(({ id }) => id));
  return {
    nodes: beads,
    edges: edges.filter(({ from, to, type }) => type !== 'parent-child' && ids.has(from) && ids.has(to)),
  };
}

function aroundOf({ nodes, edges }: Graph, id: string): Graph {
  const near = new Set([id]);
  for (const { from, to } of edges) {
    if (from === id) near.add(to);
    if (to === id) near.add(from);
  }
  return {
    nodes: nodes.filter((node) => near.has(node.id)),
    edges: edges.filter(({ from, to }) => near.has(from) && near.has(to)),
  };
}

function Drawing({ graph, onOpen }: { graph: Graph; onOpen(id: string): void }) {
  const layout = useMemo(() => layoutOf(graph), [graph]);
  const byId = new Map(graph.nodes.map((node) => [node.id, node]));
  const width = layout.layers * (WIDTH + GAP_X) - GAP_X + 4;
  const height = layout.rows * (HEIGHT + GAP_Y) - GAP_Y + 4;
  const x = ({ layer }: Placed): number => layer * (WIDTH + GAP_X) + 2;
  const y = ({ row }: Placed): number => row * (HEIGHT + GAP_Y) + 2;
  const critical = Math.max(0, ...graph.nodes.map(({ critical_path }) => critical_path ?? 0));
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard must reach it
    <section className="graph-drawing" tabIndex={0} aria-label="Drawing of the graph">
      <svg width={width} height={height} viewBox={`0 0 ${width} ${height}`} aria-hidden="true">
        {layout.edges.map(({ from, to }) => (
          <line
            key={`${from.id} ${to.id}`}
            x1={x(from) + WIDTH}
            y1={y(from) + HEIGHT / 2}
            x2={x(to)}
            y2={y(to) + HEIGHT / 2}
          />
        ))}
        {layout.nodes.map((placed) => {
          const node = byId.get(placed.id)!;
          const isCritical = critical > 1 && node.critical_path === critical;
          return (
            // biome-ignore lint/a11y/noStaticElementInteractions: the list below has the same as buttons
            <g
              key={placed.id}
              className={`node node-${node.status} ${isCritical ? 'is-critical' : ''}`}
              transform={`translate(${x(placed)} ${y(placed)})`}
              onClick={() => onOpen(placed.id)}
            >
              <rect width={WIDTH} height={HEIGHT} rx="6" />
              <text x="10" y="17">
                {cut(node.title, 22)}
              </text>
              <text x="10" y="32" className="node-detail">
                {cut(`${node.id} ${node.status.replace('_', ' ')}${isCritical ? ' critical' : ''}`, 26)}
              </text>
            </g>
          );
        })}
      </svg>
    </section>
  );
}

function cut(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length - 1)}…` : text;
}

interface WavesProps {
  graph: Graph;
  chosen: string | null;
  onChoose(id: string): void;
  onOpen(id: string): void;
}

/** The same as a tree that can be read: wave by wave, each bead with what it needs. */
function Waves({ graph, chosen, onChoose, onOpen }: WavesProps) {
  const layout = useMemo(() => layoutOf(graph), [graph]);
  const byId = new Map(graph.nodes.map((node) => [node.id, node]));
  const waves = Array.from({ length: layout.layers }, (_, layer) =>
    layout.nodes.filter((placed) => placed.layer === layer).map(({ id }) => byId.get(id)!),
  );
  const isLarge = graph.nodes.length > DRAWN;
  return (
    <ol className="waves">
      {waves.map((nodes, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a wave is its place
        <li key={index}>
          <h3>Wave {index + 1}</h3>
          <ul>
            {nodes.map((node) => (
              <li key={node.id} aria-current={chosen === node.id ? 'true' : undefined}>
                <button
                  type="button"
                  className="bead"
                  onClick={() => (isLarge ? onChoose(node.id) : onOpen(node.id))}
                >
                  <span>
                    <Outcome word={node.status} /> {node.title}
                  </span>
                  <span className="dim">{needsOf(graph, node)}</span>
                </button>
              </li>
            ))}
          </ul>
        </li>
      ))}
    </ol>
  );
}

function needsOf({ edges }: Graph, { id }: Node): string {
  const needs = edges.filter(({ from }) => from === id).map(({ to }) => to);
  return needs.length === 0 ? `${id}, needs nothing` : `${id}, needs ${needs.join(', ')}`;
}
