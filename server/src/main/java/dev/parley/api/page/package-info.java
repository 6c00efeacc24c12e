/// The web page: static files, built from `ui/page`, and a short text for other clients.
@NullMarked
package dev.parley.api.page;

import org.jspecify.annotations.NullMarked;
