package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.http.ApiTokens.ApiToken;
import java.nio.file.Path;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The web page as files; what it does is tested in a browser, in `ui/page`.
class PageTest {

  private static final String HASH =
      "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";

  @TempDir Path folder;

  @Test
  void browsers_get_a_page_that_may_run_nothing_but_its_own_files() {
    try (var testServer = TestServer.open(folder)) {
      var page = testServer.get("/", "Accept", "text/html,application/xhtml+xml");
      assertThat(page.statusCode()).isEqualTo(200);
      assertThat(page.headers().firstValue("Content-Type")).hasValue("text/html; charset=utf-8");
      assertThat(page.headers().firstValue("Content-Security-Policy").orElseThrow())
          .contains("default-src 'none'", "script-src 'self'", "frame-ancestors 'none'")
          .contains("require-trusted-types-for 'script'");
      var links = Pattern.compile("(?:src|href)=\"([^\"]+)\"").matcher(page.body()).results();
      assertThat(links.map(match -> match.group(1)).toList())
          .hasSizeGreaterThan(2)
          .allSatisfy(
              link -> {
                var file = testServer.get(link);
                assertThat(file.statusCode()).isEqualTo(200);
                assertThat(file.headers().firstValue("Cache-Control").orElseThrow())
                    .contains("immutable");
              });
    }
  }

  @Test
  void what_a_browser_has_is_not_sent_again() {
    try (var testServer = TestServer.open(folder)) {
      var tag =
          testServer.get("/", "Accept", "text/html").headers().firstValue("ETag").orElseThrow();
      var again = testServer.get("/", "Accept", "text/html", "If-None-Match", tag);
      assertThat(again.statusCode()).isEqualTo(304);
      assertThat(again.body()).isEmpty();
    }
  }

  @Test
  void other_files_of_the_program_are_not_served() {
    try (var testServer = TestServer.open(folder)) {
      for (var path : new String[] {"/assets/assets.txt", "/assets/..%2findex.html", "/assets/"}) {
        assertThat(testServer.get(path).statusCode()).as(path).isIn(400, 404);
      }
    }
  }

  @Test
  void the_page_is_for_everybody_and_what_it_shows_is_not() {
    var wish = TestServer.Wish.USUAL.tokens(new ApiToken("ann", HASH));
    try (var testServer = TestServer.open(folder, wish)) {
      assertThat(testServer.get("/", "Accept", "text/html").statusCode()).isEqualTo(200);
      assertThat(testServer.get("/assets/nothing.js").statusCode()).isEqualTo(404);
      assertThat(testServer.get("/api/contexts").statusCode()).isEqualTo(401);
      assertThat(testServer.get("/api/inbox").statusCode()).isEqualTo(401);
    }
  }
}
