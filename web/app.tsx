/** The addresses of the page, and what is shown at each. */
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { lazy, Suspense } from 'react';
import { Redirect, Route, Switch, useLocation } from 'wouter';
import { Login, useCode } from './login/login.tsx';
import { SessionPage } from './session/session-page.tsx';
import { Overview } from './sessions/overview.tsx';
import { Shell } from './shell/shell.tsx';
import { Boundary } from './ui/boundary.tsx';
import { Empty, Loading } from './ui/parts.tsx';

const Start = lazy(() => import('./start/start.tsx'));
const Project = lazy(() => import('./project/project-page.tsx'));
const Search = lazy(() => import('./search/search.tsx'));
const Settings = lazy(() => import('./settings/settings.tsx'));
const Review = lazy(() => import('./workflow/review-page.tsx'));

const client = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 30_000,
      retry: (times, error) => times < 2 && !isRefusal(error),
      refetchOnWindowFocus: false,
    },
  },
});

export function App() {
  return (
    <QueryClientProvider client={client}>
      <Switch>
        <Route path="/login" component={Login} />
        <Route>
          <Pages />
        </Route>
      </Switch>
    </QueryClientProvider>
  );
}

/** One route, so that what is shown of a session stays while another iteration of it is looked at. */
const SESSION = /^\/(?:s|w|r|sw)\/(?<id>[^/]+)(?:\/i\/(?<n>\d+)|\/(?<tab>evidence))?\/?$/;

function Pages() {
  useCode();
  const [address] = useLocation();
  return (
    <Shell>
      <Boundary address={address}>
        <Suspense fallback={<Loading of="the view" />}>
          <Switch>
            <Route path="/" component={Overview} />
            <Route path="/new" component={Start} />
            <Route path="/project" component={Project} />
            <Route path="/search" component={Search} />
            <Route path="/settings" component={Settings} />
            <Route path="/w/:id/review">{({ id }) => <Review key={id} id={id} />}</Route>
            <Route path={SESSION}>
              {({ id, n, tab }: Record<string, string | undefined>) => (
                <SessionPage
                  key={id}
                  id={id!}
                  iteration={n === undefined ? undefined : Number(n)}
                  tab={tab}
                />
              )}
            </Route>
            <Route path="/index.html">
              <Redirect to="/" />
            </Route>
            <Route>
              <h1>Nothing is here</h1>
              <Empty>There is nothing at this address.</Empty>
            </Route>
          </Switch>
        </Suspense>
      </Boundary>
    </Shell>
  );
}

function isRefusal(error: unknown): boolean {
  const { status } = error as { status?: number };
  return status !== undefined && status >= 400 && status < 500;
}
