package dev.parley.protocol;

import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.UUID;
import java.util.function.Function;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.databind.DeserializationContext;
import tools.jackson.databind.JacksonModule;
import tools.jackson.databind.SerializationContext;
import tools.jackson.databind.deser.std.StdDeserializer;
import tools.jackson.databind.module.SimpleModule;
import tools.jackson.databind.ser.std.StdSerializer;

/// Jackson serializers for types that are one string in JSON: ids, times and positions.
final class JsonStringTypes {

  private JsonStringTypes() {}

  static JacksonModule module() {
    var module = new SimpleModule("parley");
    module.addSerializer(Id.class, new Writer<>(Id.class, Id::value));
    module.addSerializer(Instant.class, new Writer<>(Instant.class, Timestamps::format));
    module.addDeserializer(Instant.class, new Reader<>(Instant.class, Instant::parse));
    module.addDeserializer(UUID.class, new Reader<>(UUID.class, JsonStringTypes::uuid));
    module.addSerializer(Position.class, new PositionWriter());
    module.addDeserializer(Position.class, new PositionReader());
    for (var type : Id.class.getPermittedSubclasses()) {
      addIdReader(module, type.asSubclass(Id.class));
    }
    return module;
  }

  private static <T extends Id> void addIdReader(SimpleModule module, Class<T> type) {
    try {
      var constructor = type.getConstructor(String.class);
      module.addDeserializer(type, new Reader<>(type, text -> id(constructor, text)));
    } catch (NoSuchMethodException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  private static <T extends Id> T id(Constructor<T> constructor, String text) {
    try {
      return constructor.newInstance(text);
    } catch (InvocationTargetException refused) {
      if (refused.getCause() instanceof Rejection.Invalid invalid) {
        throw invalid;
      }
      throw new IllegalStateException(refused);
    } catch (ReflectiveOperationException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  private static UUID uuid(String text) {
    var uuid = UUID.fromString(text);
    if (!uuid.toString().equalsIgnoreCase(text)) {
      throw new IllegalArgumentException("not in canonical form");
    }
    return uuid;
  }

  /// A position is a number, like a seq, or a string such as `"17.2"` for an internal event.
  private static final class PositionWriter extends StdSerializer<Position> {
    PositionWriter() {
      super(Position.class);
    }

    @Override
    public void serialize(Position position, JsonGenerator json, SerializationContext context) {
      if (position.k() == 0) {
        json.writeNumber(position.seq());
      } else {
        json.writeString(position.toString());
      }
    }
  }

  private static final class PositionReader extends StdDeserializer<Position> {
    PositionReader() {
      super(Position.class);
    }

    @Override
    public Position deserialize(JsonParser json, DeserializationContext context) {
      return Position.parse(String.valueOf(json.getString()));
    }
  }

  private static final class Writer<T> extends StdSerializer<T> {
    private final Function<T, String> text;

    Writer(Class<T> type, Function<T, String> text) {
      super(type);
      this.text = text;
    }

    @Override
    public void serialize(T value, JsonGenerator json, SerializationContext context) {
      json.writeString(text.apply(value));
    }
  }

  private static final class Reader<T> extends StdDeserializer<T> {
    private final Class<T> type;
    private final Function<String, T> value;

    Reader(Class<T> type, Function<String, T> value) {
      super(type);
      this.type = type;
      this.value = value;
    }

    @Override
    public T deserialize(JsonParser json, DeserializationContext context) {
      if (json.currentToken() != JsonToken.VALUE_STRING) {
        return context.reportInputMismatch(type, "not a string");
      }
      var text = json.getString();
      try {
        return value.apply(text);
      } catch (Rejection.Invalid | IllegalArgumentException | DateTimeException misfit) {
        throw context.weirdStringException(text, type, "not in the expected form");
      }
    }
  }
}
