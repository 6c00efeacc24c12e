/// The web page: static files, built from `ui/page`, and what the server says to those without a browser.
@NullMarked
package dev.parley.door.page;

import org.jspecify.annotations.NullMarked;
