/** The program behind `br` and `bv` on an agent's PATH: asks the run's tool `bead_graph`, and prints what it answers. */
const { PULSE_TOOLS_URL: url, PULSE_TOOLS_TOKEN: token } = process.env;
const [program = 'br', ...args] = process.argv.slice(2);

if (url && token) await ask(url, token);
else fail(`${program}: this is Pulse's stand-in for ${program}, and works only inside a worker's run.`, 2);

async function ask(address: string, bearer: string): Promise<void> {
  try {
    const response = await fetch(`${address}/tools/bead_graph`, {
      method: 'POST',
      headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
      body: JSON.stringify({ program, args }),
    });
    const { output, notice } = (await response.json()) as { output: unknown; notice?: string };
    const { stdout, stderr, exit } = isPrinted(output) ? output : unanswered(output);
    if (stdout) process.stdout.write(`${stdout}\n`);
    if (notice) process.stderr.write(`${notice}\n`);
    if (stderr) process.stderr.write(`${stderr}\n`);
    process.exitCode = exit;
  } catch (error) {
    fail(`${program}: the run's tools cannot be reached: ${(error as Error).message}`, 1);
  }
}

interface Printed {
  stdout: string;
  stderr: string;
  exit: number;
}

function isPrinted(output: unknown): output is Printed {
  return typeof output === 'object' && output !== null && 'exit' in output;
}

function unanswered(output: unknown): Printed {
  return { stdout: '', stderr: String(output), exit: 1 };
}

function fail(message: string, exit: number): void {
  process.stderr.write(`${message}\n`);
  process.exitCode = exit;
}
