import com.google.gson.Gson;
import com.google.gson.JsonElement;
import com.google.gson.JsonParser;
import com.prowidesoftware.swift.model.mx.AbstractMX;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Prints what Prowide reads in each of the files, as one line of JSON: the path of every value in the tree of objects that it
 * makes of the message. Prowide knows the elements from the official schemas, and leaves out what they do not have.
 */
public class Read {
  public static void main(String[] files) throws Exception {
    for (String file : files) {
      AbstractMX message = AbstractMX.parse(Files.readString(Path.of(file)));
      if (message == null) throw new IllegalArgumentException(file + " is no message that Prowide knows");
      Map<String, List<String>> values = new TreeMap<>();
      values.put("message", List.of(message.getMxId().id()));
      collect("", JsonParser.parseString(message.toJson()), values);
      System.out.println(new Gson().toJson(values));
    }
  }

  private static void collect(String path, JsonElement element, Map<String, List<String>> values) {
    if (element.isJsonObject())
      element.getAsJsonObject().entrySet().forEach((entry) -> collect(path + "/" + entry.getKey(), entry.getValue(), values));
    else if (element.isJsonArray()) element.getAsJsonArray().forEach((one) -> collect(path, one, values));
    else if (!element.isJsonNull()) values.computeIfAbsent(path, (key) -> new ArrayList<>()).add(element.getAsString());
  }
}
