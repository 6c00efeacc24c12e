/// Several servers that share a PostgreSQL database: which of them there are, and which one is
/// active.
@NullMarked
package dev.parley.cluster;

import org.jspecify.annotations.NullMarked;
