package dev.parley.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import com.networknt.schema.Schema;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SpecificationVersion;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// The published schema matches the records and the codec.
class EventSchemaTest {

  private static final Path PUBLISHED =
      Path.of("src/main/resources/dev/parley/protocol/events.schema.json");

  private static final SchemaRegistry REGISTRY =
      SchemaRegistry.withDefaultDialect(SpecificationVersion.DRAFT_2020_12);

  private static final Schema ANY = REGISTRY.getSchema(EventSchema.document());

  static Stream<GoldenFile> ours() {
    return GoldenFile.ours();
  }

  static Stream<GoldenFile> looopy() {
    return GoldenFile.looopy();
  }

  /// Run with `-Dparley.update=true` to rewrite the file.
  @Test
  void the_published_schema_is_that_of_the_records() throws IOException {
    var writer = Json.mapper().writerWithDefaultPrettyPrinter();
    var text = writer.writeValueAsString(EventSchema.document()).replace("\r\n", "\n") + "\n";
    if (Boolean.getBoolean("parley.update")) {
      Files.createDirectories(PUBLISHED.getParent());
      Files.writeString(PUBLISHED, text);
    }

    assertThat(PUBLISHED).content().isEqualTo(text);
  }

  @ParameterizedTest
  @MethodSource("ours")
  void a_golden_entry_is_valid(GoldenFile goldenFile) {
    assertThat(ANY.validate(goldenFile.tree())).isEmpty();
    assertThat(schema(goldenFile.kind()).validate(goldenFile.tree())).isEmpty();
  }

  /// Looopy's examples lack the fields that Parley's envelope adds: `seq` and `eventId`.
  @ParameterizedTest
  @MethodSource("looopy")
  void a_looopy_example_is_valid_but_for_the_envelope(GoldenFile goldenFile) {
    var whole =
        goldenFile.tree().put("seq", 1).put("eventId", "00000000-0000-4000-8000-000000000000");

    assertThat(ANY.validate(whole)).isEmpty();
  }

  @ParameterizedTest
  @MethodSource("ours")
  void an_entry_that_lacks_a_required_field_is_not_valid(GoldenFile goldenFile) {
    for (var required : EventSchema.of(goldenFile.kind()).get("required")) {
      var without = goldenFile.tree().without(required.asString());

      assertThat(ANY.validate(without)).as("without %s", required).isNotEmpty();
    }
  }

  @ParameterizedTest
  @MethodSource("ours")
  void an_entry_without_what_is_optional_is_valid(GoldenFile goldenFile) {
    var required = EventSchema.of(goldenFile.kind()).get("required").valueStream();
    var names = required.map(JsonNode::asString).toList();

    assertThat(ANY.validate(goldenFile.tree().retain(names))).isEmpty();
  }

  @ParameterizedTest
  @MethodSource("ours")
  void an_entry_with_a_field_of_the_wrong_type_is_not_valid(GoldenFile goldenFile) {
    for (var property : EventSchema.of(goldenFile.kind()).get("properties").properties()) {
      if (property.getValue().isEmpty()) {
        continue; // Any type is allowed here.
      }
      var wrong = goldenFile.tree();
      if ("object".equals(property.getValue().path("type").asString(""))) {
        wrong.putArray(property.getKey());
      } else {
        wrong.putObject(property.getKey());
      }

      assertThat(ANY.validate(wrong)).as("%s is wrong", property.getKey()).isNotEmpty();
    }
  }

  @Test
  void an_entry_of_no_known_kind_is_not_valid() {
    assertThat(ANY.validate(GoldenFile.of(Kind.USAGE).tree().put("kind", "usages"))).isNotEmpty();
  }

  @ParameterizedTest
  @EnumSource
  void whatever_an_event_holds_it_is_valid(Kind kind) {
    var events = new RandomEvents(kind.code());
    var schema = schema(kind);
    for (var i = 0; i < 50; i++) {
      var json = EventJson.bytes(events.entry(events.event(kind)));

      assertThat(schema.validate(Json.mapper().readTree(json))).isEmpty();
    }
  }

  /// EVENT-29 and EVENT-47 define their own `agentId`; no other field may hide one of the envelope.
  @ParameterizedTest
  @EnumSource
  void no_event_has_a_field_of_the_envelope_but_for_two(Kind kind) {
    var shared = (ObjectNode) Json.mapper().valueToTree(events(kind));
    shared.retain(envelope());

    var agentId = Set.of(Kind.SUBTASK_CREATED, Kind.INPUT_RECEIVED).contains(kind);
    assertThat(shared.propertyNames()).isEqualTo(agentId ? Set.of("agentId") : Set.of());
  }

  private static Schema schema(Kind kind) {
    return REGISTRY.getSchema(EventSchema.of(kind));
  }

  private static Event events(Kind kind) {
    return EventJson.event(kind, GoldenFile.of(kind).tree());
  }

  private static Set<String> envelope() {
    return Stream.of(EventJson.EntryEnvelope.class.getRecordComponents())
        .map(component -> component.getName())
        .collect(Collectors.toSet());
  }
}
