// Upload.java
import java.io.*;
import java.net.*;
import java.nio.file.*;
import java.util.*;
import javax.xml.parsers.DocumentBuilderFactory;
import org.w3c.dom.Element;

public class Upload {
    static String url;

    static Element call(File file, String... form) throws Exception {
        String start = "--waybook-" + UUID.randomUUID();
        HttpURLConnection connection = (HttpURLConnection) new URL(url).openConnection();
        connection.setDoOutput(true);
        connection.setChunkedStreamingMode(0); // keeps the file out of memory, and sends it only once
        connection.setRequestProperty("Content-Type", "multipart/form-data; boundary=" + start.substring(2));
        OutputStream out = connection.getOutputStream();
        for (int i = 0; i < form.length; i += 2) {
            write(out, start + "\r\nContent-Disposition: form-data; name=\"" + form[i] + "\"\r\n\r\n" + form[i + 1] + "\r\n");
        }
        if (file != null) {
            write(out, start + "\r\nContent-Disposition: form-data; name=\"photo\"; filename=\"photo\"\r\n\r\n");
            Files.copy(file.toPath(), out);
            write(out, "\r\n");
        }
        write(out, start + "--\r\n");
        out.close();
        InputStream in = connection.getResponseCode() < 400 ? connection.getInputStream() : connection.getErrorStream();
        Element reply = DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(in).getDocumentElement();
        if (!text(reply, "status").equals("SUCCESS")) throw new IOException(text(reply, "info"));
        return reply;
    }

    static void write(OutputStream out, String text) throws IOException {
        out.write(text.getBytes("UTF-8"));
    }

    static String text(Element reply, String name) {
        return reply.getElementsByTagName(name).item(0).getTextContent();
    }

    public static void main(String[] args) throws Exception {
        url = args[0];
        CookieHandler.setDefault(new CookieManager());
        call(null, "func", "login", "email", "demo@waybook.example", "password", args[1]);
        Element added = call(null, "func", "addAlbum", "albumTitle", "台北一日", "category", "5", "lat", "25.034", "lng", "121.5645");
        String id = text(added, "albumID");
        call(new File(args[2]), "func", "addPhoto", "albumID", id, "requestID", UUID.randomUUID().toString());
        System.out.println(text(call(null, "func", "getAlbum", "albumID", id), "thumbnail"));
    }
}
