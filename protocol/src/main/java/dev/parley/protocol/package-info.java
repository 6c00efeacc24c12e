/// What Parley's log holds and how it looks on the wire: events, ids, positions, rejections, JSON.
@NullMarked
package dev.parley.protocol;

import org.jspecify.annotations.NullMarked;
