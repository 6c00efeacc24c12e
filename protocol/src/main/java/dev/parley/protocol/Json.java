package dev.parley.protocol;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.MapperFeature;
import tools.jackson.databind.cfg.CoercionAction;
import tools.jackson.databind.cfg.CoercionInputShape;
import tools.jackson.databind.cfg.EnumFeature;
import tools.jackson.databind.cfg.JsonNodeFeature;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;
import tools.jackson.databind.type.LogicalType;

/// JSON as Parley writes and reads it.
///
/// Unknown fields are ignored, nulls are never written, a field may be missing exactly when its
/// record component is `@Nullable`, ids are strings, enums have their wire names. No type is taken
/// for another: `"1"` is not a number, `1` is not a string, `1.5` is not a whole number. Numbers in
/// free-form objects keep every digit.
public final class Json {

  private static final int DEPTH_MAX = 200;
  private static final int NUMBER_MAX = 1_000;

  // What came in is written inside events and answers, with numbers in a form that may be longer.
  // All of that must be readable again, or one request could spoil a log.
  private static final int OWN_DEPTH_MAX = 500;
  private static final int OWN_NUMBER_MAX = 10_000;

  private static final JsonMapper MAPPER = mapper(OWN_DEPTH_MAX, OWN_NUMBER_MAX);
  private static final JsonMapper OUTSIDE = mapper(DEPTH_MAX, NUMBER_MAX);

  private Json() {}

  /// The mapper that all of Parley shares. It cannot be changed. For JSON from outside, see [#read].
  public static JsonMapper mapper() {
    return MAPPER;
  }

  /// A new, empty JSON object.
  public static ObjectNode object() {
    return MAPPER.createObjectNode();
  }

  /// Writes `value` as UTF-8.
  public static byte[] bytes(Object value) {
    return MAPPER.writeValueAsBytes(value);
  }

  /// Reads one JSON value from outside that fills a record.
  ///
  /// @throws Rejection.Invalid if it is not JSON, or does not fit, saying where
  public static <T> T read(byte[] json, Class<T> type) {
    return read(() -> OUTSIDE.readValue(json, type));
  }

  /// Reads what [#bytes] once wrote, which may be somewhat more than is taken from outside.
  static <T> T readOwn(byte[] json, Class<T> type) {
    return read(() -> MAPPER.readValue(json, type));
  }

  /// Turns a tree into a record.
  ///
  /// @throws Rejection.Invalid if it does not fit, saying where
  public static <T> T read(ObjectNode tree, Class<T> type) {
    return read(() -> MAPPER.treeToValue(tree, type));
  }

  /// Takes JSON's null for what it means here: nothing.
  static @Nullable JsonNode present(@Nullable JsonNode value) {
    return value == null || value.isNull() || value.isMissingNode() ? null : value;
  }

  private static <T> T read(Supplier<@Nullable T> reading) {
    try {
      var value = reading.get();
      if (value == null) {
        throw Misfit.notAnObject();
      }
      return value;
    } catch (JacksonException problem) {
      throw Misfit.rejection(problem);
    }
  }

  private static JsonMapper mapper(int depthMax, int numberMax) {
    var limits =
        StreamReadConstraints.builder()
            .maxNestingDepth(depthMax)
            .maxNumberLength(numberMax)
            .build();
    return JsonMapper.builder(JsonFactory.builder().streamReadConstraints(limits).build())
        .annotationIntrospector(new RecordIntrospector())
        .addModule(JsonText.module())
        .changeDefaultPropertyInclusion(
            inclusion -> inclusion.withValueInclusion(JsonInclude.Include.NON_NULL))
        .disable(EnumFeature.READ_ENUMS_USING_TO_STRING, EnumFeature.WRITE_ENUMS_USING_TO_STRING)
        .enable(EnumFeature.FAIL_ON_NUMBERS_FOR_ENUMS)
        .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
        .enable(
            DeserializationFeature.FAIL_ON_TRAILING_TOKENS,
            DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
        .disable(JsonNodeFeature.STRIP_TRAILING_BIGDECIMAL_ZEROES)
        .disable(DeserializationFeature.ACCEPT_FLOAT_AS_INT)
        .disable(MapperFeature.ALLOW_COERCION_OF_SCALARS)
        .withCoercionConfig(
            LogicalType.Textual,
            text ->
                text.setCoercion(CoercionInputShape.Integer, CoercionAction.Fail)
                    .setCoercion(CoercionInputShape.Float, CoercionAction.Fail)
                    .setCoercion(CoercionInputShape.Boolean, CoercionAction.Fail))
        .build();
  }
}
