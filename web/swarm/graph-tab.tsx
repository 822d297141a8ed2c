/** What waits for what: drawn, or as a list of waves. Of large graphs the list, and the chosen bead with its neighbours. */
import { useMemo, useState } from 'react';
import { query } from '../api/client.ts';
import { useRead } from '../api/queries.ts';
import type { Graph } from '../api/types.ts';
import { Empty, Failure, Loading } from '../ui/parts.tsx';
import { Outcome } from '../ui/status.tsx';
import { BeadDialog } from './bead-dialog.tsx';
import { layoutOf, type Placed } from './layout.ts';

const DRAWN = 150;
/** Beads belong to a project: no session's events tell of them. */
const LOOK_MS = 5_000;
/** Narrower than that a drawing is a keyhole. */
const NARROW_PX = 720;
const [WIDTH, HEIGHT, GAP_X, GAP_Y] = [168, 40, 56, 14];

type Node = Graph['nodes'][number];

const VIEWS = [
  ['drawing', 'Drawing'],
  ['list', 'List'],
] as const;

export function GraphTab({ epic, project }: { epic: string; project: string }) {
  const { data, error } = useRead<Graph>(`/api/beads/graph${query({ epic, project_key: project })}`, {
    everyMs: LOOK_MS,
  });
  const [view, setView] = useState(() => (innerWidth < NARROW_PX ? 'list' : 'drawing'));
  const [chosen, setChosen] = useState<string | null>(null);
  const [open, setOpen] = useState<string | null>(null);
  const shown = useMemo(() => (data ? beadsOf(data) : null), [data]);
  if (!shown) return error ? <Failure error={error} /> : <Loading of="the graph" />;
  if (shown.nodes.length === 0) return <Empty>The epic has no beads.</Empty>;
  const isLarge = shown.nodes.length > DRAWN;
  return (
    <div className="graph">
      {isLarge ? (
        <p className="hint">{shown.nodes.length} beads: choose one to draw it with its neighbours.</p>
      ) : (
        <fieldset className="choice">
          <legend className="unseen">Show the graph as</legend>
          {VIEWS.map(([name, label]) => (
            <label key={name}>
              <input type="radio" name="graph-view" checked={view === name} onChange={() => setView(name)} />{' '}
              {label}
            </label>
          ))}
        </fieldset>
      )}
      {isLarge && chosen && (
        <Drawing
          graph={aroundOf(shown, chosen)}
          chosen={chosen}
          onOpen={(id) => (id === chosen ? setOpen(id) : setChosen(id))}
        />
      )}
      {!isLarge && view === 'drawing' && <Drawing graph={shown} onOpen={setOpen} />}
      {(isLarge || view === 'list') && (
        <Waves graph={shown} chosen={chosen} onOpen={isLarge ? setChosen : setOpen} />
      )}
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

interface DrawingProps {
  graph: Graph;
  chosen?: string;
  onOpen(id: string): void;
}

function Drawing({ graph, chosen, onOpen }: DrawingProps) {
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
      <svg width={width} height={height} viewBox={`0 0 ${width} ${height}`}>
        <title>What waits for what: an arrow leads to the bead that waits</title>
        <defs>
          <marker
            id="graph-arrow"
            viewBox="0 0 8 8"
            refX="8"
            refY="4"
            markerWidth="8"
            markerHeight="8"
            orient="auto"
          >
            <path d="M0 0L8 4L0 8z" />
          </marker>
        </defs>
        {layout.edges.map(({ from, to }) => (
          <line
            key={`${from.id} ${to.id}`}
            x1={x(from) + WIDTH}
            y1={y(from) + HEIGHT / 2}
            x2={x(to) - 1}
            y2={y(to) + HEIGHT / 2}
            markerEnd="url(#graph-arrow)"
          />
        ))}
        {layout.nodes.map((placed) => {
          const node = byId.get(placed.id)!;
          const isCritical = critical > 1 && node.critical_path === critical;
          const marks = `${isCritical ? 'is-critical' : ''} ${placed.id === chosen ? 'is-chosen' : ''}`;
          return (
            <foreignObject key={placed.id} x={x(placed)} y={y(placed)} width={WIDTH} height={HEIGHT}>
              <button
                type="button"
                className={`node node-${node.status} ${marks}`}
                title={node.title}
                onClick={() => onOpen(placed.id)}
              >
                <span>{node.title}</span>
                <span className="node-detail">
                  {node.status.replace('_', ' ')}
                  {isCritical && ', critical'}, {needsOf(graph, node)}
                </span>
              </button>
            </foreignObject>
          );
        })}
      </svg>
    </section>
  );
}

interface WavesProps {
  graph: Graph;
  chosen: string | null;
  onOpen(id: string): void;
}

/** As a tree that can be read: wave by wave, each bead with what it needs. */
function Waves({ graph, chosen, onOpen }: WavesProps) {
  const layout = useMemo(() => layoutOf(graph), [graph]);
  const byId = new Map(graph.nodes.map((node) => [node.id, node]));
  const waves = Array.from({ length: layout.layers }, (_, layer) =>
    layout.nodes.filter((placed) => placed.layer === layer).map(({ id }) => byId.get(id)!),
  );
  return (
    <ol className="waves">
      {waves.map((nodes, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a wave is its place
        <li key={index}>
          <h3>Wave {index + 1}</h3>
          <ul>
            {nodes.map((node) => (
              <li key={node.id} aria-current={chosen === node.id ? 'true' : undefined}>
                <button type="button" className="bead" onClick={() => onOpen(node.id)}>
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
