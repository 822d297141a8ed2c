/** Whether and where spans are sent, by the variables that OpenTelemetry has named for it. Off unless an address is set. */

export interface TelemetrySettings {
  /** Of the traces. */
  url: string;
  headers: Record<string, string>;
  timeoutMs: number;
  /** Of the process, such as `service.name`. */
  resource: Record<string, string>;
}

const DEFAULT_TIMEOUT_MS = 10_000;

/** `null`: off. `problem`: it is asked for in a way that Pulse does not have; told once. */
export function readTelemetry(
  environment: NodeJS.ProcessEnv,
): { settings: TelemetrySettings; problem: null } | { settings: null; problem: string | null } {
  const of = (name: string) =>
    environment[`OTEL_EXPORTER_OTLP_TRACES_${name}`] || environment[`OTEL_EXPORTER_OTLP_${name}`];
  const off = { settings: null, problem: null };
  if (environment.OTEL_SDK_DISABLED?.toLowerCase() === 'true') return off;
  const exporter = environment.OTEL_TRACES_EXPORTER || 'otlp';
  if (exporter === 'none') return off;
  const url = tracesUrl(environment);
  if (url === null) return off;
  const refused = (problem: string) => ({ settings: null, problem: `No spans are sent: ${problem}` });
  if (exporter !== 'otlp') return refused(`OTEL_TRACES_EXPORTER is ${exporter}; Pulse has otlp and none.`);
  const protocol = of('PROTOCOL') || 'http/json';
  if (protocol !== 'http/json')
    return refused(
      `OTEL_EXPORTER_OTLP_PROTOCOL is ${protocol}; Pulse has http/json, which collectors take on port 4318.`,
    );
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    return refused('OTEL_EXPORTER_OTLP_ENDPOINT is no http or https address.');
  const timeout = Number(of('TIMEOUT') || DEFAULT_TIMEOUT_MS);
  return {
    settings: {
      url,
      headers: readPairs(of('HEADERS')),
      timeoutMs: Number.isFinite(timeout) && timeout > 0 ? timeout : DEFAULT_TIMEOUT_MS,
      resource: {
        'service.name': 'pulse',
        ...readPairs(environment.OTEL_RESOURCE_ATTRIBUTES),
        ...(environment.OTEL_SERVICE_NAME ? { 'service.name': environment.OTEL_SERVICE_NAME } : {}),
      },
    },
    problem: null,
  };
}

/** An address for traces is taken as it is; one for everything gets the path of the traces. */
function tracesUrl({
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: traces,
  OTEL_EXPORTER_OTLP_ENDPOINT: all,
}: NodeJS.ProcessEnv): string | null {
  if (traces) return traces;
  return all ? `${all.replace(/\/+$/, '')}/v1/traces` : null;
}

/** `a=1,b=two%20words` */
function readPairs(text = ''): Record<string, string> {
  const pairs = text.split(',').map((pair) => /^\s*([^=\s]+)\s*=(.*)$/.exec(pair));
  return Object.fromEntries(pairs.flatMap((pair) => (pair ? [[pair[1]!, decode(pair[2]!.trim())]] : [])));
}

function decode(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    // A single per cent sign is no escape: it is meant as it stands.
    return value;
  }
}
