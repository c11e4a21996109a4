// Options of a server whose blocking operators have so little memory that they spill with test data.
'use strict';

const BYTES = 65_536;

const LIMITS = ['internalQueryMaxBlockingSortMemoryUsageBytes', 'internalDocumentSourceGroupMaxMemoryBytes',
  'internalDocumentSourceBucketAutoMaxMemoryBytes', 'internalDocumentSourceDensifyMaxMemoryBytes',
  'internalDocumentSourceSetWindowFieldsMaxMemoryBytes', 'internalDocumentSourceLookupCacheSizeBytes'];

// Tests do not depend on how full the disk is.
const TINY_MEMORY = [...LIMITS.map((name) => `${name}=${BYTES}`), 'internalQuerySpillingMinAvailableDiskSpaceBytes=0']
  .flatMap((parameter) => ['--setParameter', parameter]);

module.exports = { TINY_MEMORY };
