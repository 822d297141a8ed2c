/** Made by packaging/client.ts from the table of operations: change that, and run `npm run generate`. */
/** The method, the path, and the query that chooses among views of one address. */
export type Route = readonly [method: string, path: string, query: Readonly<Record<string, string>>];
export interface Routes { readonly [name: string]: Route | Routes }
export const ROUTES: Routes = {
start: ["POST","/api/pulse/start",{}],
show: ["GET","/api/pulse/{id}",{}],
list: ["GET","/api/pulse",{}],
showIteration: ["GET","/api/pulse/{id}/iterations/{n}",{}],
showVerifications: ["GET","/api/pulse/{id}/verifications",{}],
showEvidence: ["GET","/api/pulse/{id}/evidence",{}],
askVerification: ["POST","/api/pulse/{id}/verify",{}],
showJob: ["GET","/api/jobs/{id}",{}],
pause: ["POST","/api/pulse/{id}/pause",{}],
resume: ["POST","/api/pulse/{id}/resume",{}],
note: ["POST","/api/pulse/{id}/notes",{}],
accept: ["POST","/api/pulse/{id}/accept",{}],
reject: ["POST","/api/pulse/{id}/reject",{}],
showChecks: ["GET","/api/pulse/{id}/checks",{}],
abort: ["POST","/api/pulse/{id}/abort",{}],
merge: ["POST","/api/pulse/{id}/merge",{}],
discard: ["POST","/api/pulse/{id}/discard",{}],
followUp: ["POST","/api/pulse/{id}/follow",{}],
showHeld: ["GET","/api/held",{}],
clean: ["POST","/api/clean",{}],
showDiscard: ["GET","/api/pulse/{id}/discard",{}],
listCards: ["GET","/api/pulse",{"view":"card"}],
showHead: ["GET","/api/pulse/{id}",{"view":"head"}],
listIterations: ["GET","/api/pulse/{id}/iterations",{}],
history: ["GET","/api/pulse/{id}/history",{}],
diff: ["GET","/api/pulse/{id}/diff",{}],
brief: ["GET","/api/pulse/{id}/brief",{}],
transcript: ["GET","/api/pulse/{id}/transcript",{}],
projects: ["GET","/api/projects",{}],
agents: ["GET","/api/agents",{}],
config: ["GET","/api/config",{}],
doctor: ["GET","/api/doctor",{}],
collectGarbage: ["POST","/api/doctor/gc",{}],
verifyCommits: ["POST","/api/proofs/verify",{}],
daemons: ["GET","/api/daemons",{}],
sums: ["GET","/api/figures",{}],
search: ["GET","/api/search",{}],
check: ["POST","/api/check",{}],
workflow: {
start: ["POST","/api/workflows",{}],
show: ["GET","/api/workflows/{id}",{}],
approve: ["POST","/api/workflows/{id}/approve",{}],
decideExtension: ["POST","/api/workflows/{id}/extension",{}],
stop: ["POST","/api/workflows/{id}/stop",{}],
review: ["POST","/api/workflows/{id}/review",{}],
showDraft: ["GET","/api/workflows/{id}/draft",{}],
keepDraft: ["PUT","/api/workflows/{id}/draft",{}],
showBaseline: ["GET","/api/workflows/{id}/baseline",{}],
refreshBaseline: ["POST","/api/workflows/{id}/baseline/refresh",{}],
showDiff: ["GET","/api/workflows/{id}/diff",{}],
showPulseDiff: ["GET","/api/workflows/{id}/pulses/{pulseId}/diff",{}]
},
research: {
start: ["POST","/api/research",{}],
show: ["GET","/api/research/{id}",{}],
experiments: ["GET","/api/research/{id}/experiments",{}],
experimentDiff: ["GET","/api/research/{id}/experiments/{n}/diff",{}],
report: ["GET","/api/research/{id}/report",{}],
finish: ["POST","/api/research/{id}/finish",{}],
listTasks: ["GET","/api/research/{id}/tasks",{}],
listMessages: ["GET","/api/research/{id}/mailbox",{}]
},
bead: {
create: ["POST","/api/beads",{}],
list: ["GET","/api/beads",{}],
next: ["GET","/api/beads/next",{}],
graph: ["GET","/api/beads/graph",{}],
exportFile: ["GET","/api/beads/export",{}],
importFile: ["POST","/api/beads/import",{}],
plan: ["POST","/api/beads/plan",{}],
showPlan: ["GET","/api/beads/plans/{id}",{}],
show: ["GET","/api/beads/{id}",{}],
update: ["PATCH","/api/beads/{id}",{}],
close: ["POST","/api/beads/{id}/close",{}],
scope: ["POST","/api/beads/{id}/scope",{}]
},
swarm: {
start: ["POST","/api/swarms",{}],
show: ["GET","/api/swarms/{id}",{}],
queue: ["GET","/api/swarms/{id}/queue",{}],
handoffs: ["GET","/api/swarms/{id}/handoffs",{}],
reassign: ["POST","/api/swarms/{id}/handoffs/reassign",{}],
stop: ["POST","/api/swarms/{id}/stop",{}]
},
context: {
importTurns: ["POST","/api/context/import",{}],
listTurns: ["GET","/api/context/turns",{}],
searchTurns: ["GET","/api/context/search",{}],
searchCode: ["GET","/api/context/code",{}],
createSlice: ["GET","/api/context/slices/{id}",{}],
showTurn: ["GET","/api/turns/{id}",{}]
},
mail: {
register: ["POST","/api/mail/agents",{}],
send: ["POST","/api/mail",{}],
reply: ["POST","/api/mail/{id}/reply",{}],
acknowledge: ["POST","/api/mail/{id}/ack",{}],
list: ["GET","/api/mail",{}]
},
reservations: {
reserve: ["POST","/api/reservations",{}],
release: ["POST","/api/reservations/release",{}],
list: ["GET","/api/reservations",{}],
end: ["DELETE","/api/reservations/{id}",{}]
},
notifications: {
list: ["GET","/api/notifications",{}],
retry: ["POST","/api/notifications/{id}/retry",{}],
test: ["POST","/api/notify/test",{}],
pair: ["POST","/api/notify/pair",{}]
},
device: {
list: ["GET","/api/keys",{}],
revoke: ["DELETE","/api/keys/{id}",{}]
},
schedule: {
plan: ["POST","/api/schedules",{}],
list: ["GET","/api/schedules",{}],
remove: ["DELETE","/api/schedules/{id}",{}]
}
};
