/// One subscription for all APIs: a source with a cursor, an encoder, and a sink; formats, filters
/// and caches of frames.
@NullMarked
package dev.parley.stream;

import org.jspecify.annotations.NullMarked;
