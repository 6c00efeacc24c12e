package dev.parley.protocol;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.io.Serial;
import java.lang.reflect.AnnotatedType;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.time.Instant;
import java.util.Arrays;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.DatabindException;
import tools.jackson.databind.DeserializationContext;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JacksonModule;
import tools.jackson.databind.MapperFeature;
import tools.jackson.databind.SerializationContext;
import tools.jackson.databind.cfg.EnumFeature;
import tools.jackson.databind.cfg.MapperConfig;
import tools.jackson.databind.deser.std.StdDeserializer;
import tools.jackson.databind.introspect.AnnotatedClass;
import tools.jackson.databind.introspect.AnnotatedMember;
import tools.jackson.databind.introspect.AnnotatedParameter;
import tools.jackson.databind.introspect.JacksonAnnotationIntrospector;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.module.SimpleModule;
import tools.jackson.databind.node.ObjectNode;
import tools.jackson.databind.ser.std.StdSerializer;

/// JSON as Parley writes and reads it.
///
/// Unknown fields are ignored, nulls are never written, a field may be missing exactly when its
/// record component is `@Nullable`, ids are strings, enums have their wire names.
public final class Json {

  private static final int DEPTH_MAX = 200;

  private static final JsonMapper MAPPER =
      JsonMapper.builder(
              JsonFactory.builder()
                  .streamReadConstraints(
                      StreamReadConstraints.builder().maxNestingDepth(DEPTH_MAX).build())
                  .build())
          .annotationIntrospector(new Introspector())
          .addModule(module())
          .changeDefaultPropertyInclusion(
              inclusion -> inclusion.withValueInclusion(JsonInclude.Include.NON_NULL))
          .disable(EnumFeature.READ_ENUMS_USING_TO_STRING, EnumFeature.WRITE_ENUMS_USING_TO_STRING)
          .disable(MapperFeature.ALLOW_COERCION_OF_SCALARS)
          .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .build();

  private Json() {}

  /// The mapper that all of Parley shares. It cannot be changed.
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

  /// Reads one JSON value that fills a record.
  ///
  /// @throws Rejection.Invalid if it is not JSON, or does not fit, saying where
  public static <T> T read(byte[] json, Class<T> type) {
    return checked(type, () -> MAPPER.readValue(json, type));
  }

  /// Turns a tree into a record.
  ///
  /// @throws Rejection.Invalid if it does not fit, saying where
  public static <T> T read(ObjectNode tree, Class<T> type) {
    return checked(type, () -> MAPPER.treeToValue(tree, type));
  }

  private static <T> T checked(Class<T> type, Reading<T> reading) {
    try {
      @Nullable T value = reading.read();
      if (value == null) {
        throw new Rejection.Invalid("invalid-json", "a JSON object is needed, not null");
      }
      if (type.isRecord()) {
        RecordShape.of(type).check(value);
      }
      return value;
    } catch (DatabindException misfit) {
      throw rejection(misfit);
    } catch (JacksonException malformed) {
      throw new Rejection.Invalid(
          "invalid-json", "this is not JSON: " + malformed.getOriginalMessage());
    } catch (IllegalArgumentException outOfRange) {
      throw new Rejection.Invalid(String.valueOf(outOfRange.getMessage()));
    }
  }

  private static Rejection rejection(DatabindException misfit) {
    for (Throwable cause = misfit; cause != null; cause = cause.getCause()) {
      if (cause instanceof Rejection rejection) {
        return rejection;
      }
      if (cause instanceof IllegalArgumentException outOfRange) {
        return new Rejection.Invalid(String.valueOf(outOfRange.getMessage()));
      }
    }
    var path = new StringBuilder();
    for (var step : misfit.getPath()) {
      path.append(
          step.getPropertyName() == null
              ? "[" + step.getIndex() + "]"
              : (path.isEmpty() ? "" : ".") + step.getPropertyName());
    }
    var message =
        String.valueOf(misfit.getOriginalMessage()).replaceAll("`?dev\\.parley[\\w.$]*`?", "it");
    return new Rejection.Invalid(path.isEmpty() ? message : path + ": " + message);
  }

  private static JacksonModule module() {
    var module = new SimpleModule("parley");
    module.addSerializer(Id.class, new AsText<>(Id.class, Id::value));
    module.addSerializer(Instant.class, new AsText<>(Instant.class, Timestamps::format));
    for (var type : Id.class.getPermittedSubclasses()) {
      addIdReader(module, type.asSubclass(Id.class));
    }
    return module;
  }

  private static <T extends Id> void addIdReader(SimpleModule module, Class<T> type) {
    module.addDeserializer(type, new IdReader<>(type));
  }

  private interface Reading<T> {
    @Nullable T read();
  }

  /// Writes a value as one string.
  private static final class AsText<T> extends StdSerializer<T> {
    private final Function<T, String> text;

    AsText(Class<T> type, Function<T, String> text) {
      super(type);
      this.text = text;
    }

    @Override
    public void serialize(T value, JsonGenerator json, SerializationContext context) {
      json.writeString(text.apply(value));
    }
  }

  /// Reads an id from one string.
  private static final class IdReader<T extends Id> extends StdDeserializer<T> {
    private final Constructor<T> constructor;

    IdReader(Class<T> type) {
      super(type);
      try {
        constructor = type.getConstructor(String.class);
      } catch (NoSuchMethodException impossible) {
        throw new IllegalStateException(impossible);
      }
    }

    @Override
    public T deserialize(JsonParser json, DeserializationContext context) {
      if (json.currentToken() != tools.jackson.core.JsonToken.VALUE_STRING) {
        return context.reportInputMismatch(this, "an id is a string");
      }
      try {
        return constructor.newInstance(json.getString());
      } catch (InvocationTargetException refused) {
        if (refused.getCause() instanceof Rejection rejection) {
          throw rejection;
        }
        throw new IllegalStateException(refused);
      } catch (ReflectiveOperationException impossible) {
        throw new IllegalStateException(impossible);
      }
    }
  }

  /// Reads from our types what other projects put into annotations.
  private static final class Introspector extends JacksonAnnotationIntrospector {
    @Serial private static final long serialVersionUID = 1L;

    @Override
    public @Nullable Boolean hasRequiredMarker(MapperConfig<?> config, AnnotatedMember member) {
      if (member instanceof AnnotatedParameter parameter
          && parameter.getOwner().getAnnotated() instanceof Constructor<?> constructor
          && constructor.getDeclaringClass().isRecord()) {
        return !nullable(constructor.getAnnotatedParameterTypes()[parameter.getIndex()]);
      }
      return super.hasRequiredMarker(config, member);
    }

    @Override
    public String[] findEnumValues(
        MapperConfig<?> config, AnnotatedClass type, Enum<?>[] constants, String[] names) {
      return Arrays.stream(constants)
          .map(c -> c instanceof WireName wire ? wire.wire() : c.name())
          .toArray(String[]::new);
    }

    private static boolean nullable(AnnotatedType type) {
      return type.isAnnotationPresent(Nullable.class);
    }
  }
}
