/** Whether a page is inert, and a server that would hear of it if it were not. */
import { createServer, type Server } from 'node:http';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';

export interface Trap extends AsyncDisposable {
  url: string;
  port: number;
  /** Every path that was asked for and is no page of its own. */
  heard: string[];
  /** What it answers with at this path. */
  pages: Map<string, string>;
}

/** Another program of this machine that a page could be made to talk to; its pages are of another port. */
export async function openTrap(): Promise<Trap> {
  const heard: string[] = [];
  const pages = new Map<string, string>();
  const server: Server = createServer((request, response) => {
    const path = request.url ?? '';
    const page = pages.get(path);
    if (page === undefined && path !== '/favicon.ico') heard.push(`${request.method} ${path}`);
    response.writeHead(page === undefined ? 404 : 200, { 'content-type': 'text/html; charset=utf-8' });
    response.end(page ?? '');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    heard,
    pages,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** All that the page itself is made of. */
const ELEMENTS =
  'html head meta title link script style body noscript main div header nav section article aside footer h1 h2 h3 h4 ' +
  'p span a b strong em i code pre small time ul ol li dl dt dd table caption thead tbody tr th td form fieldset legend ' +
  'label input textarea select option datalist button output progress meter details summary dialog blockquote br hr ' +
  'figure figcaption canvas svg path circle rect line polyline polygon g text tspan title defs marker foreignObject';

/** Nothing ran, and the page consists of its own elements, with its own attributes. */
export async function expectInert(page: Page, where: string): Promise<void> {
  const found = await page.evaluate((elements) => {
    const allowed = new Set(elements.split(' '));
    const problems: string[] = [];
    if ((window as { hacked?: number }).hacked !== undefined) problems.push('a script ran');
    for (const element of document.querySelectorAll('*')) {
      const name = element.localName;
      const markup = element.outerHTML.slice(0, 120);
      if (!allowed.has(name)) problems.push(`element ${markup}`);
      const isOfHead = element.closest('head') !== null;
      if (['script', 'style', 'link', 'meta'].includes(name) && !isOfHead)
        problems.push(`in the body: ${markup}`);
      for (const { name: attribute, value } of element.attributes) {
        if (/^on|^srcdoc$|^formaction$|^style$/.test(attribute) && !isLayout(element, attribute, value))
          problems.push(`attribute ${attribute} of ${markup}`);
        if (/href$|^src$|^action$|^data$|^poster$/.test(attribute) && !isOwn(value))
          problems.push(`address ${value} of ${markup}`);
      }
    }
    return problems;

    function isOwn(address: string): boolean {
      return new URL(address, location.href).origin === location.origin;
    }
    /** Virtual rows and meters are placed by numbers. */
    function isLayout(element: Element, attribute: string, value: string): boolean {
      return attribute === 'style' && element instanceof HTMLElement && !/url|expression|@/i.test(value);
    }
  }, ELEMENTS);
  expect(found, where).toEqual([]);
}
