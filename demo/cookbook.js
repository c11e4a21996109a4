// The pipelines of docs/cookbook.md, run as they stand there, and what they must answer, computed from the file in another way.
'use strict';

const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');

const COOKBOOK = path.resolve(__dirname, '..', 'docs', 'cookbook.md');
const EARTH_KM = 6371;
const STATION = { lat: -41.2793, lng: 174.7805 };

// The recipes of the page: title, collection, pipeline.
function readCookbook() {
  const recipes = [];
  for (const section of fs.readFileSync(COOKBOOK, 'utf8').split(/^## /m).slice(1)) {
    const code = /```js\ndb\.(\w+)\.aggregate\((.*?)\)\n```/s.exec(section);
    assert.ok(code, `a pipeline in the section ${section.split('\n')[0]}`);
    recipes.push({ title: section.split('\n')[0], collection: code[1], pipeline: new Function(`return ${code[2]}`)() });
  }
  return recipes;
}

// Orders by several numbers or strings; strings by their bytes, as the database does.
function by(...keys) {
  return (a, b) => {
    for (const key of keys) {
      const [x, y] = [key(a), key(b)];
      const order = typeof x === 'string' ? Buffer.compare(Buffer.from(x), Buffer.from(y)) : x - y;
      if (order !== 0) return order;
    }
    return 0;
  };
}

function groupBy(rows, key) {
  const groups = new Map();
  for (const row of rows) {
    const at = key(row);
    if (!groups.has(at)) groups.set(at, []);
    groups.get(at).push(row);
  }
  return groups;
}

const round = (value, digits) => Number(value.toFixed(digits));

function kilometres(place) {
  const radians = (degrees) => (degrees * Math.PI) / 180;
  const cosine = Math.sin(radians(place.lat)) * Math.sin(radians(STATION.lat))
    + Math.cos(radians(place.lat)) * Math.cos(radians(STATION.lat)) * Math.cos(radians(place.lng - STATION.lng));
  return EARTH_KM * Math.acos(Math.min(1, cosine));
}

// Title → what the pipeline answers over `all` places.
const EXPECTED = {
  'The countries with the most places': (all) => [...groupBy(all, (p) => p.country)]
    .map(([_id, rows]) => ({ _id, places: rows.length })).sort(by((r) => -r.places, (r) => r._id)).slice(0, 10),

  'The northernmost place of each country': (all) => [...groupBy(all, (p) => p.country)]
    .map(([_id, rows]) => {
      const first = [...rows].sort(by((p) => -p.lat, (p) => p._id))[0];
      return { _id, place: [first.name, first.lat] };
    }).sort(by((r) => r._id)),

  'Names that are used in the most countries': (all) => [...groupBy(all, (p) => p.name)]
    .map(([_id, rows]) => ({ _id, countries: new Set(rows.map((p) => p.country)).size }))
    .sort(by((r) => -r.countries, (r) => r._id)).slice(0, 20),

  'How far from the equator people live': (all) => [0, 15, 30, 45, 60]
    .map((_id, i, lows) => ({ _id, places: all.filter((p) => Math.abs(p.lat) >= _id && Math.abs(p.lat) < (lows[i + 1] ?? 90)).length })),

  'Four bands of longitude with equally many places': (all) => {
    const sorted = all.map((p) => p.lng).sort((a, b) => a - b);
    const size = Math.round(sorted.length / 4);
    const bands = [];
    for (let begin = 0; begin < sorted.length;) {
      let end = bands.length === 3 ? sorted.length : Math.min(sorted.length, begin + size);
      while (end < sorted.length && sorted[end] === sorted[end - 1]) ++end;
      bands.push({ _id: { min: sorted[begin], max: sorted[Math.min(end, sorted.length - 1)] }, count: end - begin });
      begin = end;
    }
    return bands;
  },

  'A page and the number of pages at once': (all) => {
    const rows = all.filter((p) => p.country === 'NZ').sort(by((p) => p.name, (p) => p._id));
    return [{ total: [{ places: rows.length }], page: rows.slice(20, 25).map(({ name }) => ({ name })) }];
  },

  'The three southernmost places of each country': (all) => ['AR', 'AU', 'CL', 'NZ', 'ZA']
    .flatMap((country) => all.filter((p) => p.country === country).sort(by((p) => p.lat, (p) => p._id)).slice(0, 3)
      .map(({ name }, i) => ({ name, country, rank: i + 1 }))),

  'Where the names of one country come from': (all) => {
    const byName = groupBy(all, (p) => p.name);
    const pairs = all.filter((p) => p.country === 'NZ').flatMap((p) => byName.get(p.name)).filter((p) => p.country !== 'NZ');
    return [...groupBy(pairs, (p) => p.country)].map(([_id, rows]) => ({ _id, pairs: rows.length }))
      .sort(by((r) => -r.pairs, (r) => r._id)).slice(0, 5);
  },

  'The five places nearest to a point': (all) => all
    .filter((p) => p.lat > -43 && p.lat < -40 && p.lng > 173 && p.lng < 177)
    .sort(by(kilometres, (p) => p._id)).slice(0, 5).map((p) => ({ name: p.name, km: round(kilometres(p), 1) })),

  'A table of regions, kept up to date': (all) => [...groupBy(all, (p) => JSON.stringify([p.country, p.admin1]))]
    .map(([key, rows]) => {
      const [country, region] = JSON.parse(key);
      return { _id: { country, region }, places: rows.length, lat: rows.reduce((sum, p) => sum + p.lat, 0) / rows.length };
    }),
};

// The written collection stands for the answer of a pipeline that ends in $merge.
async function answerOf(db, { collection, pipeline }) {
  const rows = await db.collection(collection).aggregate(pipeline).toArray();
  const into = pipeline.at(-1).$merge?.into;
  return into ? db.collection(into).find().toArray() : rows;
}

// Sums are exact in the database and not here.
function sameRegions(rows, expected) {
  const sorted = (list) => [...list].sort(by((r) => r._id.country, (r) => r._id.region));
  assert.equal(rows.length, expected.length);
  sorted(expected).forEach((region, i) => {
    const row = sorted(rows)[i];
    assert.deepEqual({ ...row, lat: 0 }, { ...region, lat: 0 });
    assert.ok(Math.abs(row.lat - region.lat) < 0.000501, `${JSON.stringify(row)} is not at ${region.lat}`);
  });
}

// Runs every recipe against the loaded places; `check(what, body)` reports.
async function checkCookbook(db, all, check) {
  const recipes = readCookbook();
  await check('the cookbook has ten pipelines', () => assert.equal(recipes.length, 10));
  await db.collection('regions').drop().catch(() => {});
  for (const recipe of recipes) {
    await check(`cookbook: ${recipe.title}`, async () => {
      const rows = await answerOf(db, recipe);
      const expected = EXPECTED[recipe.title](all);
      if (recipe.pipeline.at(-1).$merge) {
        sameRegions(rows, expected);
      } else {
        assert.deepEqual(rows, expected);
      }
      return `${rows.length} rows`;
    });
  }
}

module.exports = { checkCookbook };
