package dev.parley.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Objects;
import java.util.Properties;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/// `docs/events.md` matches the records: its sentences are their comments, its tables list their
/// components.
class EventDocsTest {

  private static final Path GUIDE = Path.of("../docs/events.md");
  private static final Path SOURCES = Path.of("src/main/java/dev/parley/protocol");
  private static final String BEGIN = "<!-- From here on written by EventDocsTest. -->\n";
  private static final Pattern RECORD =
      Pattern.compile("((?:^ *///.*\n)+) *record (\\w+)\\(", Pattern.MULTILINE);

  private final Properties notes = notes();

  /// Run with `-Dparley.update=true` to rewrite the file.
  @Test
  void the_guide_is_that_of_the_records() throws IOException {
    var guide = Files.readString(GUIDE);
    var whole = guide.substring(0, guide.indexOf(BEGIN)) + BEGIN + kinds();
    if (Boolean.getBoolean("parley.update")) {
      Files.writeString(GUIDE, whole);
    }

    assertThat(GUIDE).content().isEqualTo(whole);
  }

  @Test
  void every_field_is_explained_and_nothing_else_is() {
    var fields =
        Arrays.stream(Kind.values())
            .flatMap(kind -> fields(kind).map(name -> kind.wire() + "." + name))
            .collect(Collectors.toCollection(TreeSet::new));

    assertThat(new TreeSet<>(notes.stringPropertyNames())).isEqualTo(fields);
  }

  private String kinds() {
    var sentences = sentences();
    return Arrays.stream(Kind.values())
        .map(kind -> "\n" + section(kind, sentences))
        .collect(Collectors.joining());
  }

  private String section(Kind kind, Properties sentences) {
    var schema = EventSchema.record(kind.type());
    var required =
        schema.get("required").valueStream().map(JsonNode::asString).collect(Collectors.toSet());
    var text = new StringBuilder();
    text.append("### `").append(kind.wire()).append("`\n\n");
    text.append(sentences.getProperty(kind.type().getSimpleName())).append("\n\n");
    text.append("| Field | Type | Present | What it is |\n|---|---|---|---|\n");
    fields(kind)
        .forEach(
            name ->
                text.append(
                    "| `%s` | %s | %s | %s |\n"
                        .formatted(
                            name,
                            type(schema.get("properties").get(name)),
                            required.contains(name) ? "always" : "maybe",
                            notes.getProperty(kind.wire() + "." + name))));
    return text.toString();
  }

  private static Stream<String> fields(Kind kind) {
    return Arrays.stream(kind.type().getRecordComponents()).map(component -> component.getName());
  }

  private static String type(JsonNode schema) {
    if (schema.has("enum")) {
      return schema
          .get("enum")
          .valueStream()
          .map(value -> "`" + value.asString() + "`")
          .collect(Collectors.joining(", "));
    }
    if (schema.has("pattern")) {
      return "id";
    }
    if (schema.has("format")) {
      return "time";
    }
    var type = schema.path("type").asString("any");
    return type.equals("array") ? "list of " + type(schema.get("items")) : type;
  }

  /// The comment above each record, by the record's name.
  private static Properties sentences() {
    var sentences = new Properties();
    try (var files = Files.list(SOURCES)) {
      for (var file : files.filter(path -> path.toString().endsWith("Event.java")).toList()) {
        var found = RECORD.matcher(Files.readString(file));
        while (found.find()) {
          var comment = found.group(1).replaceAll(" *///", "").replaceAll("\\s+", " ").strip();
          sentences.setProperty(found.group(2), comment);
        }
      }
      return sentences;
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
  }

  private static Properties notes() {
    var notes = new Properties();
    var file = EventDocsTest.class.getResourceAsStream("event-fields.properties");
    try (var text = new InputStreamReader(Objects.requireNonNull(file), StandardCharsets.UTF_8)) {
      notes.load(text);
      return notes;
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
  }
}
