import java.io.*;
import java.net.*;
import java.util.*;

/** Sends by HttpURLConnection. Argument: the address. */
class ConnectionDriver extends Driver {
    private final String url;

    ConnectionDriver(String url) { this.url = url; }

    @Override String send(String method, Map<String, String> form) throws Exception {
        StringBuilder text = new StringBuilder();
        for (Map.Entry<String, String> each : form.entrySet()) {
            text.append(text.length() == 0 ? "" : "&").append(each.getKey()).append('=').append(URLEncoder.encode(each.getValue(), "UTF-8"));
        }
        boolean isRead = method.equals("GET");
        HttpURLConnection connection = (HttpURLConnection) new URL(isRead ? url + "?" + text : url).openConnection();
        if (!isRead) {
            byte[] bytes = text.toString().getBytes("UTF-8");
            connection.setDoOutput(true);
            connection.setFixedLengthStreamingMode(bytes.length);
            connection.setRequestProperty("Content-Type", "application/x-www-form-urlencoded");
            connection.getOutputStream().write(bytes);
        }
        InputStream in = connection.getResponseCode() < 400 ? connection.getInputStream() : connection.getErrorStream();
        return new Scanner(in, "UTF-8").useDelimiter("\\A").next();
    }

    public static void main(String[] args) throws Exception {
        CookieHandler.setDefault(new CookieManager());
        new ConnectionDriver(args[0]).run();
    }
}
