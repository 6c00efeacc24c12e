package dev.parley.external.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class LineReaderTest {

  /// Returns one byte per read.
  private static InputStream dripping(String text) {
    return new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8)) {
      @Override
      public synchronized int read(byte[] buffer, int from, int length) {
        return super.read(buffer, from, Math.min(length, 1));
      }
    };
  }

  private static List<String> lines(LineReader reader) throws IOException {
    var lines = new ArrayList<String>();
    for (var outputLine = reader.next(); outputLine != null; outputLine = reader.next()) {
      lines.add(outputLine.text() + (outputLine.cut() ? " (cut)" : ""));
    }
    return lines;
  }

  // AGENT-7
  @Test
  void letters_split_over_reads_and_both_line_ends_are_read() throws Exception {
    assertThat(lines(new LineReader(dripping("grüße €\r\n😀\n\nend"))))
        .containsExactly("grüße €", "😀", "", "end");
  }

  // AGENT-7
  @Test
  void a_line_of_more_than_a_mebibyte_is_whole() throws Exception {
    var line = "{\"type\":\"assistant\",\"content\":\"" + "x".repeat(3 << 20) + "\"}";
    var reader =
        new LineReader(
            new ByteArrayInputStream((line + "\nnext\n").getBytes(StandardCharsets.UTF_8)));

    var first = reader.next();
    assertThat(first.text()).isEqualTo(line);
    assertThat(new ClaudeParser().read(first.text())).hasSize(2);
    assertThat(lines(reader)).containsExactly("next");
  }

  @Test
  void a_line_that_is_too_long_is_cut_and_the_next_is_whole() throws Exception {
    assertThat(lines(new LineReader(dripping("0123456789\nnext\n"), 4)))
        .containsExactly("0123 (cut)", "next");
  }
}
