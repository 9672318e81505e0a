// Post or update the one comment that says what a pull request changes for the reader.
// The text was made by the pull request's own code: it is taken as data and made harmless.
'use strict';

const fs = require('node:fs');

const MARK = '<!-- evidence-compare -->';
const MOST = 60000;
const GAP = '\u200b'; // seen by no reader; breaks what would become a link, a mention or a tag

function harmless(text) {
  return text
    .replace(/[@<&]|#(?=\d)/g, (sign) => sign + GAP)
    .replace(/\]([([:])/g, `]${GAP}$1`)
    .replace(/:\/\//g, `:${GAP}//`)
    .replace(/\bwww\./gi, `www${GAP}.`);
}

function body(raw) {
  const text = raw.startsWith(MARK) ? raw.slice(MARK.length) : raw;
  const cut = harmless(text).slice(0, MOST - MARK.length);
  return MARK + cut;
}

function read(file) {
  if (!file || !fs.existsSync(file)) return null;
  const raw = fs.readFileSync(file);
  return raw.length > 4 * MOST ? null : raw.toString('utf8');
}

// The pull request is found from what GitHub says of the run, never from the artifact.
async function findPull({ github, context }) {
  const run = context.payload.workflow_run;
  const { data } = await github.rest.pulls.list({
    ...context.repo,
    state: 'open',
    head: `${run.head_repository.owner.login}:${run.head_branch}`,
  });
  return data.find((pull) => pull.head.sha === run.head_sha);
}

async function post({ github, context, core }) {
  const pull = await findPull({ github, context });
  if (!pull) return core.info('no open pull request has this commit as its head');
  const raw = read(process.env.COMMENT);
  const text = raw === null ? `${MARK}\nThe comparison was not made; see the run of the workflow “check”.` : body(raw);
  const comments = await github.paginate(github.rest.issues.listComments, {
    ...context.repo,
    issue_number: pull.number,
  });
  const own = comments.find((c) => c.user.type === 'Bot' && c.body.startsWith(MARK));
  if (own) return github.rest.issues.updateComment({ ...context.repo, comment_id: own.id, body: text });
  return github.rest.issues.createComment({ ...context.repo, issue_number: pull.number, body: text });
}

module.exports = { body, findPull, harmless, post, read };
