/** Where things are: the state directory, and what lies in it. */
import { createHash } from 'node:crypto';
import { tmpdir, userInfo } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';

/** A Unix socket's path may not be longer than this, with room for its file name. */
const SOCKET_DIRECTORY_BYTES = 70;

export interface Home {
  path: string;
  database: string;
  worktrees: string;
  /** Where claims are judged, a folder for each session. */
  rooms: string;
  /** Which worktree has which port. */
  ports: string;
  logs: string;
  sockets: string;
  recordings: string;
  /** What was learnt of projects' code: it can be deleted at any time. */
  index: string;
  /** Clones in which a daemon works for sessions of other hosts, and their worktrees. */
  clones: string;
  fleet: string;
  bin: string;
  /** The dashboard's page, as a checkout has built it. */
  page: string;
  /** What a client of `serve` must show. */
  token: string;
  /** What people have said of repositories' configs. */
  trust: string;
  /** The key that signs proofs. */
  key: string;
  serveId: string;
  serveLock: string;
}

export function resolveHome(environment: NodeJS.ProcessEnv): Home {
  const { PULSE_HOME, XDG_DATA_HOME, HOME } = environment;
  const data =
    XDG_DATA_HOME && isAbsolute(XDG_DATA_HOME)
      ? XDG_DATA_HOME
      : join(HOME ?? userInfo().homedir, '.local/share');
  const path = PULSE_HOME ? resolve(PULSE_HOME) : join(data, 'pulse');
  return {
    path,
    database: join(path, 'pulse.db'),
    worktrees: join(path, 'worktrees'),
    rooms: join(path, 'rooms'),
    ports: join(path, 'ports'),
    logs: join(path, 'logs'),
    sockets: socketDirectory(path, environment),
    recordings: join(path, 'recordings'),
    index: join(path, 'index'),
    clones: join(path, 'clones'),
    fleet: join(path, 'fleet'),
    bin: join(path, 'bin'),
    page: join(path, 'page'),
    token: join(path, 'token'),
    trust: join(path, 'trust'),
    key: join(path, 'key'),
    serveId: join(path, 'serve.id'),
    serveLock: join(path, 'serve.lock'),
  };
}

/** An agent's run is not told where its Pulse keeps what it knows: the usual place may be another's. */
export function isRunWithoutStore(environment: NodeJS.ProcessEnv): boolean {
  const { PULSE_RUN_ID, PULSE_HOME, PULSE_DATABASE_URL } = environment;
  return Boolean(PULSE_RUN_ID) && !PULSE_HOME && !PULSE_DATABASE_URL;
}

/** In the state directory, or, where that path is too long for a socket, in the runtime directory under its hash. */
function socketDirectory(home: string, { XDG_RUNTIME_DIR }: NodeJS.ProcessEnv): string {
  const own = join(home, 'sockets');
  if (Buffer.byteLength(own) <= SOCKET_DIRECTORY_BYTES) return own;
  const name = `pulse-${userInfo().uid}-${createHash('sha256').update(home).digest('hex').slice(0, 12)}`;
  const runtime = XDG_RUNTIME_DIR ?? tmpdir();
  return join(Buffer.byteLength(runtime) < SOCKET_DIRECTORY_BYTES - 30 ? runtime : '/tmp', name);
}
